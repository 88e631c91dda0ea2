"""What a question comes to in a catalog, before anything is chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from clusterwright.catalog.software import SoftwareCatalog
from clusterwright.plan.software.demands import Stack
from clusterwright.plan.software.lock import Lock
from clusterwright.plan.software.presence import Presence, presence
from clusterwright.plan.software.question import Question
from clusterwright.plan.software.traits import PoolFacts


def stack(
    question: Question,
    catalog: SoftwareCatalog,
    previous: Lock | None = None,
    upgrade: Collection[str] | None = (),
) -> Stack:
    """Everything that there is to choose from, and all demands. Pools that are alike are asked once."""

    def kept(pool: str, component: str) -> tuple[str, str] | None:
        if previous is None or upgrade is None or component in upgrade:
            return None
        locked = previous.pools.get(pool, {}).get(component)
        return (locked.version, locked.flavour) if locked else None

    present = {
        pool: presence(pool, facts, question.wishes, catalog, question.elsewhere)
        for pool, facts in question.pools.items()
    }
    alike = _alike(question.pools, present, previous)
    asked = {pool: facts for pool, facts in question.pools.items() if alike[pool] == pool}
    return Stack(
        catalog,
        question.distribution,
        asked,
        alike,
        {pool: present[pool] for pool in asked},
        question.given,
        kept,
        frozenset(upgrade or ()),
    )


def _alike(
    pools: Mapping[str, PoolFacts], present: Mapping[str, Presence], previous: Lock | None
) -> Mapping[str, str]:
    """For each pool the first that has the same machines, wishes and history."""
    first: dict[object, str] = {}
    found: dict[str, str] = {}
    for pool, facts in pools.items():
        wishes = tuple(wish for wishes in present[pool].wishes.values() for wish in wishes)
        history = previous.pools.get(pool) if previous else None
        before = tuple((name, row.version, row.flavour) for name, row in (history or {}).items())
        found[pool] = first.setdefault((facts, wishes, before), pool)
    return found
