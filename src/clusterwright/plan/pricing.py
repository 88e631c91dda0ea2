"""From a description to what its machines cost."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.choice import CLOUDS
from clusterwright.catalog.offers import Price
from clusterwright.plan.cost import Cost, PoolCost
from clusterwright.plan.outline import Outline


def cost(outline: Outline) -> Cost:
    """The cost of every pool that a cloud makes, in the order of the description."""
    return Cost(tuple(_pools(outline)))


def _pools(outline: Outline) -> Iterator[PoolCost]:
    for name, pool in outline.spec.pools.items():
        site = outline.sites.get(outline.site_names[name] or "")
        if site is None or site.provider not in CLOUDS:
            continue
        model, region = outline.capacity(name), str(getattr(site, "region", ""))
        price = _price(outline, pool.machine, region, model)
        elsewhere = None if price else _elsewhere(outline, pool.machine, model)
        yield PoolCost(name, pool.machine, region, outline.count(name), model, price, elsewhere)


def _price(outline: Outline, machine: str, region: str, model: str) -> Price | None:
    """A reserved machine costs what it does on demand, used or not, where its list names no other price.

    Amazon EC2 User Guide, On-Demand Capacity Reservations; Google Compute Engine, billing of reservations.
    """
    known = outline.catalog.price(machine, region, model)
    return known or (outline.catalog.price(machine, region, "on-demand") if model == "reservation" else None)


def _elsewhere(outline: Outline, machine: str, model: str) -> Price | None:
    known = (price for price in outline.catalog.prices.get(machine, ()) if price.capacity == model)
    return min(known, key=lambda price: price.usd_per_hour, default=None)
