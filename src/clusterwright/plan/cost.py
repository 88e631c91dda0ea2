"""What a plan costs for an hour, as far as price lists tell: machines, storage and network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from clusterwright.catalog.offers import Price
from clusterwright.catalog.services import ServicePrice

HOURS_A_MONTH = 730
NOT_INCLUDED = "traffic, what is stored by the byte, requests, logs, licences and taxes"
Part = Literal["pools", "storage", "network"]
PARTS: tuple[Part, ...] = ("pools", "storage", "network")


@dataclass(frozen=True, slots=True)
class PoolCost:
    """One pool on a cloud. `price` is of one machine, None where no source tells."""

    pool: str
    machine: str
    region: str
    nodes: int
    capacity: str
    price: Price | None
    elsewhere: Price | None = None
    """Of the same in another region, where no source tells the price in this one."""
    stays: bool = True
    """Whether it is paid with all compute nodes gone: they do not compute, or were bought beforehand."""

    @property
    def usd_per_hour(self) -> float | None:
        return round(self.price.usd_per_hour * self.nodes, 4) if self.price else None


@dataclass(frozen=True, slots=True)
class ServiceCost:
    """One thing beside machines that is paid by the hour."""

    part: Part
    name: str
    """`disks of gpu`, `/scratch`, `NAT gateway` …"""
    service: str
    """As the table of prices names it."""
    amount: float
    price: ServicePrice | None
    """Of one unit; None where no source tells."""
    region: str
    stays: bool = True
    """Whether it is paid with all compute nodes gone."""

    @property
    def usd_per_hour(self) -> float | None:
        if self.price is None:
            return None
        hours = HOURS_A_MONTH if self.price.unit.endswith("-month") else 1
        return round(self.price.usd * self.amount / hours, 4)


@dataclass(frozen=True, slots=True)
class Metered:
    """What is paid by how much it is used, which nobody knows beforehand: in no sum."""

    name: str
    price: ServicePrice


@dataclass(frozen=True, slots=True)
class Cost:
    """Of what clouds make; machines of one's own have no price here."""

    pools: tuple[PoolCost, ...] = ()
    services: tuple[ServiceCost, ...] = ()
    metered: tuple[Metered, ...] = ()

    @property
    def usd_per_hour(self) -> float:
        """With every node up, busy or idle. The sum of what is known; what is unpriced is not in it."""
        return round(sum(self.of(part) for part in PARTS), 4)

    @property
    def least_usd_per_hour(self) -> float:
        """With every compute node gone that is paid only as long as it runs."""
        return round(sum(one.usd_per_hour or 0 for one in self._lines() if one.stays), 4)

    def of(self, part: Part) -> float:
        """US dollars an hour of one part, with every node up."""
        return round(sum(one.usd_per_hour or 0 for one in self.lines(part)), 4)

    def is_unknown(self, part: Part) -> bool:
        """Whether no source tells the price of anything in it."""
        lines = self.lines(part)
        return bool(lines) and all(one.price is None for one in lines)

    def lines(self, part: Part) -> tuple[PoolCost | ServiceCost, ...]:
        """In the order of the description."""
        return self.pools if part == "pools" else tuple(one for one in self.services if one.part == part)

    @property
    def usd_per_month(self) -> float:
        return round(self.usd_per_hour * HOURS_A_MONTH, 2)

    @property
    def unpriced(self) -> tuple[PoolCost, ...]:
        return tuple(pool for pool in self.pools if pool.price is None)

    @property
    def unpriced_services(self) -> tuple[ServiceCost, ...]:
        return tuple(one for one in self.services if one.price is None)

    @property
    def dates(self) -> tuple[str, ...]:
        """Months of the price lists, the oldest first."""
        return tuple(sorted({one.price.date for one in self._lines() if one.price}))

    def _lines(self) -> Iterator[PoolCost | ServiceCost]:
        yield from self.pools
        yield from self.services
