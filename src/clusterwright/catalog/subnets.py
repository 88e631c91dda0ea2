"""Addresses of a subnet that its provider keeps for itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class Reserved:
    """How many addresses at each end of a subnet no node can have."""

    first: int
    last: int
    source: str
    date: str


@cache
def reserved(provider: str) -> Reserved:
    """What a provider keeps; every provider of a description has a row."""
    return next(
        Reserved(int(row["first"]), int(row["last"]), row["source"], row["date"])
        for row in rows("subnets")
        if row["provider"] == provider
    )
