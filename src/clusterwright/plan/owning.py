"""What an hour of a GPU of one's own costs, beside what a cloud asks for one like it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clusterwright.catalog.machine_catalog import MachineCatalog
from clusterwright.plan.outline import Outline
from clusterwright.spec.site import OnpremSite

HOURS_A_YEAR = 8766
"""365.25 days."""


@dataclass(frozen=True, slots=True)
class Rented:
    """The cheapest on-demand offer of a GPU of the same model."""

    machine: str
    region: str
    usd_per_gpu_hour: float
    date: str


@dataclass(frozen=True, slots=True)
class OwnCost:
    """Of one pool, in US dollars for each hour of a GPU, busy or idle."""

    pool: str
    purchase: float
    power: float | None
    """None where nobody says what the machines draw, or what a kWh costs."""
    rented: Rented | None

    @property
    def usd_per_gpu_hour(self) -> float:
        return round(self.purchase + (self.power or 0), 4)


def own_costs(outline: Outline) -> Iterator[OwnCost]:
    """Pools of own machines with GPUs whose price is described."""
    for name, pool in outline.spec.pools.items():
        site, hardware = outline.sites.get(outline.site_names[name] or ""), outline.hardware[name]
        if pool.purchase is None or hardware is None or not hardware.gpus or not isinstance(site, OnpremSite):
            continue
        gpus, watts = len(hardware.gpus), outline.watts(name)
        priced = site.power_price is not None and watts is not None
        power = (watts or 0) / 1000 * (site.power_price or 0) * site.pue / gpus if priced else None
        yield OwnCost(
            pool=name,
            purchase=round(pool.purchase.price / (pool.purchase.years * HOURS_A_YEAR) / gpus, 4),
            power=None if power is None else round(power, 4),
            rented=_cheapest(outline.catalog, hardware.gpu_model),
        )


def _cheapest(catalog: MachineCatalog, gpu: str | None) -> Rented | None:
    offers = (
        Rented(name, price.region, round(price.usd_per_hour / len(row.gpus), 4), price.date)
        for name, row in catalog.machines.items()
        if row.gpu_model == gpu and row.gpus
        for price in catalog.prices.get(name, ())
        if price.capacity == "on-demand"
    )
    return min(offers, key=lambda one: (one.usd_per_gpu_hour, one.machine, one.region), default=None)
