"""The lock beside a description: held against what it needs, or made where there is none."""

from __future__ import annotations

from pathlib import Path

from clusterwright.finding import Where, refuse
from clusterwright.plan.outline import Outline
from clusterwright.plan.software import Lock, beside, load
from clusterwright.plan.software.asked import Place, asked
from clusterwright.plan.software.solve import answer
from clusterwright.spec.cluster import ClusterSpec


def settled(spec: ClusterSpec, where: Place, description: Path) -> Lock:
    """The lock that a cluster is brought up with: the file's, or a new one where there is none.

    `spec` passed its checks. Raises Refused when the file would install something else than `spec` needs:
    nothing is installed that nobody could review.
    """
    file = beside(description)
    before = load(file) if file.exists() else None
    lock = answer(asked(Outline(spec, {}), where), before)
    if before is not None and _installs(before) != _installs(lock):
        what = "the lock is not what the description needs any more"
        remedy = f"Run `clusterwright lock {description}`, and review what changed"
        raise refuse("CW8014", Where(str(file)), what, remedy)
    return lock


def _installs(lock: Lock) -> object:
    """What a node would notice; the words that say why are none of it."""
    return {
        pool: {
            name: (row.version, row.flavour, row.packages, row.services, row.hold)
            for name, row in rows.items()
        }
        for pool, rows in lock.pools.items()
    }
