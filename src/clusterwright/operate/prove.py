"""Run the acceptance gates, and keep what they said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from clusterwright.accept.prove import accept
from clusterwright.accept.result import Acceptance, GateResult, judged
from clusterwright.converge.push import run_hooks
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome


def prove(desired: Desired, targets: Mapping[str, Target], report: Report) -> Acceptance:
    """Run the site's own steps before acceptance, then every gate. The report is kept under `reports/`."""
    home, run = desired.home, desired.home.new_run("accept")
    steps = _own_steps(desired, targets, report, run)
    report(Event("accept", "started", "proving nodes, scheduler, jobs and accounting"))
    units = {name: sorted(map(_full_name, wanted.active_units)) for name, wanted in desired.wanted.items()}
    acceptance = accept(
        desired.handoff, targets.values(), units=units, report=report, run_dir=run, before=steps
    )
    home.reports.mkdir(parents=True, exist_ok=True)
    for page in ("accept.json", "accept.html"):
        shutil.copyfile(run / page, home.reports / page)
    return acceptance


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


def was_accepted(home: ClusterHome) -> bool:
    """Whether the last run of the gates found nothing wrong."""
    try:
        return bool(json.loads((home.reports / "accept.json").read_text())["accepted"])
    except (FileNotFoundError, ValueError, KeyError):
        return False


def doubt(home: ClusterHome) -> None:
    """Forget the last acceptance: what it proved is about to change."""
    (home.reports / "accept.json").unlink(missing_ok=True)
