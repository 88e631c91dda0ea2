"""The lock beside a description: held against what it needs, or made where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clusterwright.finding import Finding, Severity, Where, refuse
from clusterwright.handoff.software import locked_in
from clusterwright.plan.outline import Outline
from clusterwright.plan.software import Lock, beside, load
from clusterwright.plan.software.asked import Place, asked
from clusterwright.plan.software.compare import compare
from clusterwright.plan.software.solve import answer
from clusterwright.spec.cluster import ClusterSpec


@dataclass(frozen=True, slots=True)
class Settled:
    """The lock that a cluster is brought up with."""

    lock: Lock
    notes: tuple[Finding, ...] = ()


def settled(
    spec: ClusterSpec, where: Place, description: Path, applied: Mapping[str, Any] | None = None
) -> Settled:
    """The file's lock; where there is none a new one, which keeps what the cluster has.

    `spec` passed its checks; `applied` is the software of the hand-off that was last applied. Raises Refused
    when the file would install something else than `spec` needs: nothing is installed that nobody could
    review.
    """
    file = beside(description)
    question = asked(Outline(spec, {}), where)
    if file.exists():
        before = load(file)
        lock = answer(question, before)
        if _installs(before) != _installs(lock):
            what = "the lock is not what the description needs any more"
            remedy = f"Run `clusterwright lock {description}`, and review what changed"
            raise refuse("CW8014", Where(str(file)), what, remedy)
        return Settled(lock)
    best = answer(question)
    history = locked_in(applied) if applied else None
    if history is None or not history.pools:
        return Settled(best)
    lock = answer(question, history)
    return Settled(lock, tuple(_kept(description, lock, best)))


def _kept(description: Path, lock: Lock, best: Lock) -> Iterator[Finding]:
    """What stays as it runs although a new cluster would get something else."""
    newer = [one for one in compare(lock, best) if one.before and one.after]
    if newer:
        told = ", ".join(f"{one.component} {one.before} (the best is {one.after})" for one in newer)
        yield Finding(
            "CW8040",
            Where(str(description)),
            f"no lock stands beside it, so what runs stays: {told}",
            f"`clusterwright lock {description} --upgrade` writes a lock with the best; review and commit it",
            Severity.NOTE,
        )


def _installs(lock: Lock) -> object:
    """What a node would notice; the words that say why are none of it."""
    return {
        pool: {
            name: (row.version, row.flavour, row.packages, row.services, row.hold)
            for name, row in rows.items()
        }
        for pool, rows in lock.pools.items()
    }
