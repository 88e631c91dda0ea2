"""What a provider makes of a subnet: how large it may be, and which addresses are kept from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows, whole


@dataclass(frozen=True, slots=True)
class Reserved:
    """How many addresses at each end of a subnet no node can have."""

    first: int
    last: int
    largest: int | None
    """Length of the shortest prefix that the provider takes; None where it does not matter."""
    smallest: int | None
    """Length of the longest prefix."""
    source: str
    date: str


@cache
def reserved(provider: str) -> Reserved:
    """What a provider keeps; every provider of a description has a row."""
    return next(
        Reserved(
            first=int(row["first"]),
            last=int(row["last"]),
            largest=whole(row["largest"]),
            smallest=whole(row["smallest"]),
            source=row["source"],
            date=row["date"],
        )
        for row in rows("subnets")
        if row["provider"] == provider
    )
