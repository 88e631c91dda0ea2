"""Run the acceptance gates, and keep what they said."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from clusterwright.accept.prove import accept
from clusterwright.accept.report import HTML_FILE, JSON_FILE, write
from clusterwright.accept.result import Acceptance, GateResult, judged
from clusterwright.converge.push import run_hooks
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Where, refuse
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.pull.proof import Proof, Waiting
from clusterwright.operate.pull.publish import ask_again
from clusterwright.operate.pull.signing import Signing


def prove(desired: Desired, targets: Mapping[str, Target], report: Report) -> Acceptance:
    """Run the site's own steps before acceptance, then every gate. The report is kept under `reports/`."""
    run = desired.home.new_run("accept")
    steps = _own_steps(desired, targets, report, run)
    report(Event("accept", "started", "proving nodes, scheduler, jobs and accounting"))
    units = {name: sorted(map(_full_name, wanted.active_units)) for name, wanted in desired.wanted.items()}
    acceptance = accept(
        desired.handoff, targets.values(), units=units, report=report, run_dir=run, before=steps
    )
    _keep(desired.home, run)
    return acceptance


def prove_within(
    desired: Desired, targets: Mapping[str, Target], waiting: Waiting, stale: Proof | None
) -> Acceptance:
    """Where nodes pull, one of them runs the gates. `stale`: what it said before, which is no answer.

    Raises Refused where nothing was published yet."""
    home, report, run = desired.home, waiting.report, desired.home.new_run("accept")
    steps = _own_steps(desired, targets, report, run)
    report(Event("accept", "started", f"{waiting.node} proves scheduler, jobs and accounting"))
    pointer = waiting.store.pointer(Signing.of(home).public)
    if pointer and stale and stale.acceptance and stale.is_of(pointer) and stale == waiting.now():
        pointer = ask_again(waiting.store, home)
    if pointer is None:
        remedy = f"Run `clusterwright up {home.name}`"
        raise refuse("CW8058", Where(path=waiting.store.url), "nothing is published there", remedy)
    acceptance = waiting.until(pointer)
    acceptance = replace(acceptance, gates=(*steps, *acceptance.gates))
    write(acceptance, run)
    _keep(home, run)
    return acceptance


def _keep(home: ClusterHome, run: Path) -> None:
    home.reports.mkdir(parents=True, exist_ok=True)
    for page in (JSON_FILE, HTML_FILE):
        shutil.copyfile(run / page, home.reports / page)


def _own_steps(
    desired: Desired, targets: Mapping[str, Target], report: Report, run: Path
) -> list[GateResult]:
    """The site's steps before acceptance; one that fails refuses it, as any gate does."""
    hooks = [hook for hook in desired.handoff.cluster["hooks"] if hook["at"] == "before-accept"]
    if not hooks:
        return []
    done = run_hooks(
        desired.handoff,
        list(targets.values()),
        desired.wanted,
        "before-accept",
        run_dir=run,
        report=report,
        description_folder=desired.folder,
    )
    return [
        judged(
            "own-steps",
            name,
            name not in done.broken,
            expected=", ".join(hook["run"] for hook in hooks),
            seen=f"{node.failed_task}: {node.message}" if name in done.broken else "done",
            remedy=f"Mend the step or what it found; the whole record is in {run}",
        )
        for name, node in sorted(done.nodes.items())
    ]


def _full_name(unit: str) -> str:
    return unit if "." in unit else f"{unit}.service"
