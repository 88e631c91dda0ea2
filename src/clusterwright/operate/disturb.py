"""Nobody's job is lost by surprise."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from clusterwright.converge.target import Target
from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Handoff
from clusterwright.operate.queue import Queue
from clusterwright.operate.remote import run_on

_ONE_BY_ONE = "Use --roll, which waits for the jobs of one node after another"
_ALL_AT_ONCE = "This change is made on all nodes in one moment, and --roll cannot take it from node to node"
_SILENT = (
    "Bring back slurmctld, which does not answer (the node itself tells of these jobs), or use --disturb"
)
# slurmstepd names itself by its step: `slurmstepd: [17.batch]`.
_STEPS = r"ps -eo args= | sed -n 's/^slurmstepd: \[\([0-9]*\)\..*/\1/p'"
_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Running:
    """Started jobs by node, only of nodes that have any, and whether Slurm itself told of them."""

    answers: bool
    jobs: Mapping[str, tuple[str, ...]]


def queue_of(handoff: Handoff, targets: Mapping[str, Target]) -> Queue | None:
    """Slurm's queue, or None when no controller can be asked."""
    there = [targets[node.name] for node in handoff.with_role("controller") if node.name in targets]
    return Queue(there[0], tuple(there[1:])) if there else None


def refuse_to_disturb(
    handoff: Handoff, targets: Mapping[str, Target], nodes: Collection[str], *, rolls: bool = False
) -> None:
    """Raises Refused with a finding per node of `nodes` that has started jobs.

    `rolls`: whatever could wait for its jobs does so, and these are nodes that cannot.
    """
    known = running(handoff, targets, nodes)
    way = _ALL_AT_ONCE if rolls else _ONE_BY_ONE
    remedy = f"{way}, drain it first with `clusterwright node drain {handoff.name} %s`, or use --disturb"
    if findings := [loss(node, jobs, known.answers, remedy) for node, jobs in known.jobs.items()]:
        raise Refused(findings)


def running(handoff: Handoff, targets: Mapping[str, Target], nodes: Collection[str]) -> Running:
    """Jobs on these nodes as Slurm knows them; where it does not answer, as the nodes' own processes tell."""
    queue = queue_of(handoff, targets) if nodes else None
    if queue and queue.states():
        return Running(True, queue.jobs_on(nodes))
    return Running(False, _steps_on(targets, nodes))


def loss(node: str, jobs: Collection[str], answers: bool, remedy: str) -> Finding:
    """What a node's jobs stand to lose. `remedy` has `%s` for the node, and holds where Slurm answers."""
    what = f"node {node} would be taken away from running jobs: {', '.join(jobs)}"
    return Finding("CW8006", Where(path=node), what, remedy % node if answers else _SILENT)


def _steps_on(targets: Mapping[str, Target], nodes: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Jobs by node as their own processes tell, which go on while no slurmctld does."""
    asked = sorted({*nodes} & {*targets})
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        told = list(pool.map(lambda name: run_on(targets[name], _STEPS).output.split(), asked))
    return {node: tuple(sorted({*jobs}, key=int)) for node, jobs in zip(asked, told, strict=True) if jobs}
