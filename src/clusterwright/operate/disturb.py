"""Nobody's job is lost by surprise."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from clusterwright.converge.target import Target
from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Handoff
from clusterwright.operate.queue import Queue


def queue_of(handoff: Handoff, targets: Mapping[str, Target]) -> Queue | None:
    """Slurm's queue, or None when no controller can be asked."""
    for node in handoff.with_role("controller"):
        if node.name in targets:
            return Queue(targets[node.name])
    return None


def refuse_to_disturb(handoff: Handoff, targets: Mapping[str, Target], nodes: Collection[str]) -> None:
    """Raises Refused with a finding per node of `nodes` that has started jobs."""
    queue = queue_of(handoff, targets) if nodes else None
    busy = queue.jobs_on(nodes) if queue else {}
    findings = [
        Finding(
            "CW8006",
            Where(path=node),
            f"node {node} would be taken away from running jobs: {', '.join(jobs)}",
            f"Drain it first with `clusterwright node drain {handoff.name} {node}`, or use --disturb",
        )
        for node, jobs in busy.items()
    ]
    if findings:
        raise Refused(findings)
