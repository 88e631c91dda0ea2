"""What the machines of a plan cost for an hour, as far as price lists tell."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.catalog.offers import Price

HOURS_A_MONTH = 730
NOT_INCLUDED = "disks, shared storage, traffic, addresses, licences and taxes"


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

    @property
    def usd_per_hour(self) -> float | None:
        return round(self.price.usd_per_hour * self.nodes, 4) if self.price else None


@dataclass(frozen=True, slots=True)
class Cost:
    """Pools on clouds; machines of one's own have no price here."""

    pools: tuple[PoolCost, ...] = ()

    @property
    def usd_per_hour(self) -> float:
        """The sum of what is known; `unpriced` is not in it."""
        return round(sum(pool.usd_per_hour or 0 for pool in self.pools), 4)

    @property
    def usd_per_month(self) -> float:
        return round(self.usd_per_hour * HOURS_A_MONTH, 2)

    @property
    def unpriced(self) -> tuple[PoolCost, ...]:
        return tuple(pool for pool in self.pools if pool.price is None)

    @property
    def dates(self) -> tuple[str, ...]:
        """Months of the price lists, the oldest first."""
        return tuple(sorted({pool.price.date for pool in self.pools if pool.price}))
