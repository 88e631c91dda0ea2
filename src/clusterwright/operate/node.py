"""One node at a time: add, replace, drain, resume. No other node is rebuilt or restarted."""

from __future__ import annotations

from typing import Protocol

from clusterwright.event import Event, Report
from clusterwright.finding import Where, refuse
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.course import Wishes
from clusterwright.operate.nodes import typed
from clusterwright.operate.outcome import Outcome
from clusterwright.operate.prepare import described
from clusterwright.operate.queue import ROLL, STOPPED, TAKES_JOBS, Queue
from clusterwright.operate.remote import Reached, run_on
from clusterwright.operate.source import Source
from clusterwright.operate.up import up
from clusterwright.plan.outline import Outline

RESUME_SECONDS = 30.0
_LOGGED = ("clusterwright: gate ", STOPPED)
DRAIN_SECONDS = 7 * 24 * 3600.0
"""A drain waits as long as jobs may run."""


def add(source: Source, text: str, report: Report) -> Outcome:
    """Bring up nodes that are in the description already; others that are missing stay missing."""
    names = _in_description(source, text)
    return up(source, report, Wishes(create=names))


def replace(cluster: Cluster, text: str, report: Report, *, disturb: bool = False) -> Outcome:
    """Rebuild nodes from the image. Runs no task on any other node."""
    names = cluster.nodes(text)
    return up(cluster.applied(), report, Wishes(replace=names, only=names, disturb=disturb))


class Asked(Protocol):
    """A cluster whose Slurm can be asked from here: of a lab, or through the door that a cloud has."""

    @property
    def name(self) -> str: ...

    def nodes(self, text: str) -> tuple[str, ...]: ...
    def queue(self) -> Queue: ...
    def reach(self, node: str) -> Reached: ...


def drain(cluster: Asked, text: str, report: Report, *, reason: str, wait: bool = True) -> bool:
    """Give these nodes no new jobs, and wait for the running ones. False when some still run at the end."""
    names, queue = cluster.nodes(text), cluster.queue()
    queue.update(names, "drain", reason)
    for name in names:
        report(Event("drain", "started", "gets no new jobs", name))
    done = not wait or not queue.wait_until_empty(
        names, DRAIN_SECONDS, lambda words: report(Event("drain", "progress", words))
    )
    for name in names if wait else ():
        report(Event("drain", "ok" if done else "failed", "drained" if done else "jobs still run", name))
    return done


def resume(cluster: Asked, text: str, report: Report) -> None:
    """Give these nodes jobs again: a person says that they are repaired.

    One that a roll has stopped at may be half changed: its gates are told, and the roll goes on with it.
    """
    names = cluster.nodes(text)
    queue = cluster.queue()
    reasons = {name: reason for name, (_, reason) in queue.states().items() if name in names}
    for name, reason in reasons.items():
        if reason.startswith(_LOGGED):
            _settle(cluster.reach(name))
        if reason.startswith(ROLL):
            words = f"known as repaired; `clusterwright up {cluster.name} --roll` goes on with it"
            report(Event("resume", "changed", words, name))
    free = tuple(name for name in names if not reasons.get(name, "").startswith(ROLL))
    if not free:
        return
    queue.resume(free)
    late = queue.take_up(free, RESUME_SECONDS, TAKES_JOBS)
    for name in free:
        taken = name not in late
        report(
            Event("resume", "ok" if taken else "failed", "takes jobs" if taken else "takes none yet", name)
        )


def _settle(node: Reached) -> None:
    """Tell the node's gates so: the kernel's log still has what was wrong."""
    gate = "/usr/lib/clusterwright/gate --repaired"
    run_on(node, f'if [ "$(id -u)" = 0 ]; then {gate}; else sudo -n {gate}; fi', timeout=90)


def _in_description(source: Source, text: str) -> tuple[str, ...]:
    outline = Outline(described(source).spec, {})
    known = {name for names in outline.names.values() for name in names or ()}
    names = typed(text)
    unknown = [name for name in names if name not in known]
    if unknown:
        what = f"{', '.join(unknown)} is not in {source.file}"
        raise refuse("CW8012", Where(path=text), what, "Raise the pool's `count` there first, then add it")
    return names
