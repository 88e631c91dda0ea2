"""What a provider offers of a machine type: local disks, prices, regions and zones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clusterwright.catalog.table import Row

_UNITS = {"GB": 10**9, "GiB": 2**30}


@dataclass(frozen=True, slots=True)
class LocalDisks:
    """Disks that are alike; they lose what is on them when the machine goes."""

    count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Price:
    """What one machine costs for an hour in a region, got in one way. Disks and traffic cost extra."""

    machine: str
    region: str
    capacity: str
    usd_per_hour: float
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Offering:
    """Where a machine type is sold."""

    zones: Mapping[str, tuple[str, ...]]
    """Zones by region."""
    source: str
    date: str


def disks_of(cell: str) -> tuple[LocalDisks, ...] | None:
    """`8x3800GB` → eight disks; `none` → none; an empty cell → nobody tells."""
    if cell in ("", "none"):
        return () if cell else None
    return tuple(_disks(part) for part in cell.split())


def price_of(row: Row) -> Price:
    usd = float(row["usd_per_hour"])
    return Price(row["machine"], row["region"], row["capacity"], usd, row["source"], row["date"])


def offering_of(row: Row) -> Offering:
    """`us-east-2:ab` → us-east-2a, us-east-2b; `us-central1-:af` → us-central1-a, us-central1-f."""
    parts = (part.partition(":") for part in row["zones"].split())
    zones = {stem.rstrip("-"): tuple(stem + letter for letter in letters) for stem, _, letters in parts}
    return Offering(zones, row["source"], row["date"])


def _disks(text: str) -> LocalDisks:
    count, _, size = text.partition("x")
    unit = "GiB" if size.endswith("GiB") else "GB"
    return LocalDisks(int(count), int(size.removesuffix(unit)) * _UNITS[unit])
