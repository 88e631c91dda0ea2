"""`clusterwright destroy`: leave nothing."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE
from clusterwright.finding import Severity, Where, refuse

if TYPE_CHECKING:
    from clusterwright.operate.cluster import Cluster

_ABOUT = """Remove a cluster: its machines and everything that is kept of it.

Of a lab without a question. Of a cluster on a cloud it says first what goes, what is kept, what is lost
and what it cost so far, and asks. What is protected there stays, volumes of controllers and file systems
of people: with --unprotect these leave the stack as well.

Also removes a half-made cluster and one whose state is damaged; stopped on the
way, it goes on when run again. The description stays, so `up` makes the cluster anew."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "destroy",
        run,
        _ABOUT,
        resumes=True,
        examples={
            "clusterwright destroy lab": "jobs and homes included",
            "clusterwright destroy aws-p5": "after a question",
            "clusterwright destroy aws-p5 --yes --unprotect": "without one, and nothing is kept by the stack",
        },
    )
    add_target(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--unprotect", action="store_true", help="on a cloud: also what is protected")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.destroy import destroy
    from clusterwright.operate.stack.known import on_cloud

    if far := on_cloud(arguments.cluster):
        return _of_cloud(far, arguments)
    if arguments.unprotect:
        what, remedy = "nothing of a lab is protected", "Leave it out"
        raise refuse("CW9013", Where(path="--unprotect"), what, remedy)
    cluster = Cluster.named(arguments.cluster)
    with progress(as_json=arguments.json) as report:
        nodes = destroy(cluster, report)
    if arguments.json:
        print(json.dumps({"outcome": {"cluster": cluster.name, "ok": True, "removed": list(nodes)}}))
    else:
        print(f"{cluster.name} is gone: {len(nodes)} nodes")
    return FINE


def _of_cloud(cluster: Cluster, arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.cli.terminal.question import agreed
    from clusterwright.cli.terminal.stack import show_ending
    from clusterwright.operate.stack.destroy import destroy, ending

    silent = arguments.json
    with ExitStack() as held:
        with progress(as_json=silent) as report:
            work = held.enter_context(ending(cluster, report, unprotect=arguments.unprotect))
        show_ending(work, as_json=silent)
        if not agreed(f"Destroy {cluster.name}?", yes=arguments.yes, as_json=silent):
            print("nothing was done")
            return FAILED
        with progress(as_json=silent) as report:
            said = destroy(work, report)
    show(said, as_json=silent, stream=True)
    problems = [finding for finding in said if finding.severity is Severity.ERROR]
    if silent:
        body = {"cluster": cluster.name, "ok": not problems, "removed": list(work.nodes)}
        print(json.dumps({"outcome": body}))
    else:
        print(f"{cluster.name} is {'gone' if not problems else 'not gone'}: {len(work.nodes)} nodes")
    return FAILED if problems else FINE
