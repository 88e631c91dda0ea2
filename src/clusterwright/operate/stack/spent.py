"""What a cluster's machines cost since they were made: an estimate, from list prices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clusterwright.handoff import Handoff
from clusterwright.operate.stack.changes import node_of, pool_of
from clusterwright.operate.stack.told import members_of
from clusterwright.plan.cost import Cost

if TYPE_CHECKING:
    from clusterwright.providers.engine.kept import Kept


@dataclass(frozen=True, slots=True)
class Spent:
    """`usd` is of the machines that are there now; those that were replaced before are not in it."""

    usd: float
    since: datetime | None
    """When the oldest of them was made."""
    unpriced: tuple[str, ...]
    """Nodes whose price, or age, nobody knows."""


def spent(kept: Kept, handoff: Handoff | None, cost: Cost | None, now: datetime) -> Spent:
    pools = {node.name: node.pool for node in handoff.nodes} if handoff else {}
    prices = _prices(cost)
    usd, since, unpriced = 0.0, None, []
    for node, created in _machines(kept, pools, handoff.name if handoff else ""):
        made, price = _moment(created), prices.get(pools.get(node, ""))
        if made is None or price is None:
            unpriced.append(node)
            continue
        usd += (now - made).total_seconds() / 3600 * price
        since = made if since is None else min(since, made)
    return Spent(round(usd, 2), since, tuple(sorted(unpriced)))


def _machines(kept: Kept, pools: Mapping[str, str], cluster: str) -> Iterator[tuple[str, str]]:
    """Node, and when its machine was made; of a group's member, when the group was: it may be younger."""
    groups: dict[str, str] = {}
    for resource in kept.resources:
        if node := node_of(resource.type, resource.name, cluster):
            yield node, resource.created
        elif pool := pool_of(resource.type, resource.name, cluster):
            groups[pool] = min(groups.get(pool, resource.created), resource.created)
    for node in members_of(kept):
        if (made := groups.get(pools.get(node, ""))) is not None:
            yield node, made


def _prices(cost: Cost | None) -> Mapping[str, float]:
    """Pool → US dollars an hour for one machine."""
    return {one.pool: one.price.usd_per_hour for one in cost.pools if one.price} if cost else {}


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None
