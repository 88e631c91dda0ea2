"""What a cloud's services cost, beside machines: disks, file systems, ways out and in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows

_EVERYWHERE = "*"


@dataclass(frozen=True, slots=True)
class ServicePrice:
    """Of one unit: `hour`, `machine-hour`, `gib-month` of what is provided; `traffic-gb` and
    `stored-gb-month` are metered, so nobody knows beforehand how many there will be."""

    unit: str
    usd: float
    source: str
    date: str


def service_price(provider: str, service: str, region: str, unit: str) -> ServicePrice | None:
    """None where no source tells the price in this region."""
    known = _prices()
    return known.get((provider, service, region, unit)) or known.get((provider, service, _EVERYWHERE, unit))


@cache
def _prices() -> Mapping[tuple[str, str, str, str], ServicePrice]:
    return {
        (row["provider"], row["service"], row["region"], row["unit"]): ServicePrice(
            row["unit"], float(row["usd"]), row["source"], row["date"]
        )
        for row in rows("service_prices")
    }
