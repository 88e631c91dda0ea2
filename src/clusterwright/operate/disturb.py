"""Nobody's job is lost by surprise."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from clusterwright.converge.target import Target
from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Handoff
from clusterwright.operate.queue import Queue

_ONE_BY_ONE = "Use --roll, which waits for the jobs of one node after another"
_ALL_AT_ONCE = "This change is made on all nodes in one moment, and --roll cannot take it from node to node"


def queue_of(handoff: Handoff, targets: Mapping[str, Target]) -> Queue | None:
    """Slurm's queue, or None when no controller can be asked."""
    for node in handoff.with_role("controller"):
        if node.name in targets:
            return Queue(targets[node.name])
    return None


def refuse_to_disturb(
    handoff: Handoff, targets: Mapping[str, Target], nodes: Collection[str], *, rolls: bool = False
) -> None:
    """Raises Refused with a finding per node of `nodes` that has started jobs.

    `rolls`: whatever could wait for its jobs does so, and these are nodes that cannot.
    """
    queue = queue_of(handoff, targets) if nodes else None
    busy = queue.jobs_on(nodes) if queue else {}
    findings = [
        Finding(
            "CW8006",
            Where(path=node),
            f"node {node} would be taken away from running jobs: {', '.join(jobs)}",
            f"{_ALL_AT_ONCE if rolls else _ONE_BY_ONE}, drain it first with "
            f"`clusterwright node drain {handoff.name} {node}`, or use --disturb",
        )
        for node, jobs in busy.items()
    ]
    if findings:
        raise Refused(findings)
