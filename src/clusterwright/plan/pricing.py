"""From a description to what it costs."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.choice import CLOUDS
from clusterwright.catalog.offers import Price
from clusterwright.plan.cost import Cost, PoolCost
from clusterwright.plan.outline import Outline
from clusterwright.plan.service_cost import metered, services
from clusterwright.spec.pool import Role

_BOUGHT = frozenset({"reservation", "capacity-block", "dense"})
"""Ways to get machines that are paid whether machines run or not."""


def cost(outline: Outline) -> Cost:
    """The cost of everything that a cloud makes, in the order of the description."""
    pools = tuple(_pools(outline))
    return Cost(pools, tuple(services(outline, pools)), tuple(metered(outline)))


def _pools(outline: Outline) -> Iterator[PoolCost]:
    for name, pool in outline.spec.pools.items():
        site = outline.sites.get(outline.site_names[name] or "")
        if site is None or site.provider not in CLOUDS:
            continue
        model, region = outline.capacity(name), str(getattr(site, "region", ""))
        price = _price(outline, pool.machine, region, model)
        elsewhere = None if price else _elsewhere(outline, pool.machine, model)
        stays = Role.COMPUTE not in pool.roles or model in _BOUGHT
        yield PoolCost(name, pool.machine, region, outline.count(name), model, price, elsewhere, stays)


def _price(outline: Outline, machine: str, region: str, model: str) -> Price | None:
    """A reserved machine costs what it does on demand, used or not, where its list names no other price.

    Amazon EC2 User Guide, On-Demand Capacity Reservations; Google Compute Engine, billing of reservations.
    """
    known = outline.catalog.price(machine, region, model)
    return known or (outline.catalog.price(machine, region, "on-demand") if model == "reservation" else None)


def _elsewhere(outline: Outline, machine: str, model: str) -> Price | None:
    known = (price for price in outline.catalog.prices.get(machine, ()) if price.capacity == model)
    return min(known, key=lambda price: price.usd_per_hour, default=None)
