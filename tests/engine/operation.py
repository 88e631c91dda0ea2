"""One operation on a stack through the Automation API, its program being the project's own; JSON on stdout.

A process for each operation, as a pipeline has it: after a failed update the SDK leaves its event loop open.
"""

from __future__ import annotations

import json
import os
import runpy
import sys

from pulumi import automation

from clusterwright.providers.engine.brief import BriefStack


def main(engine: str, project: str, name: str, verb: str) -> None:
    def program() -> None:
        runpy.run_path(f"{project}/stacks/__main__.py", run_name="__main__")

    workspace = automation.LocalWorkspace(
        work_dir=project,
        program=program,
        pulumi_command=automation.PulumiCommand(root=engine),
    )
    kind = automation.Stack if verb == "up" else BriefStack
    stack = kind.create_or_select(name, workspace)
    try:
        answer = operate(stack, verb)
    except automation.CommandError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)


def operate(stack: automation.Stack, verb: str) -> dict[str, object]:
    if verb == "preview":
        preview = stack.preview(color="never")
        return {"changes": preview.change_summary, "text": preview.stdout}
    if verb == "cancel":
        stack.cancel()
        return {}
    if verb == "change":
        return {"changes": changes(stack)}
    if verb == "up":
        up = stack.up(color="never")
        outputs = {name: output.value for name, output in up.outputs.items()}
        return {"changes": up.summary.resource_changes, "text": up.stdout, "outputs": outputs}
    done = stack.refresh(color="never") if verb == "refresh" else stack.destroy(color="never")
    return {"text": done.stdout}


def changes(stack: automation.Stack) -> dict[str, int]:
    """Of an update, as its own events tell them."""
    told: list[dict[str, int]] = []

    def hear(event: automation.EngineEvent) -> None:
        if event.summary_event:
            told.append(dict(event.summary_event.resource_changes))

    stack.up(color="never", on_event=hear)
    [one] = told
    return one


if __name__ == "__main__":
    main(*sys.argv[1:])
