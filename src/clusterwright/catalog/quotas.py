"""Quotas: what an account may have of what a cluster is made of, by the code that a cloud knows them by."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class Quota:
    """One quota. How much of it there is only the account's own cloud tells."""

    provider: str
    service: str
    """Who tells it: a service of AWS; `region`, `project` or `family` (of GPUs) on Google Cloud."""
    code: str
    name: str
    counts: str
    """`vcpus`, `gpus`, `addresses`, `gp3-tib` …"""
    machines: tuple[str, ...]
    """Patterns of the machine types that it is of; none where it is not of machines."""
    capacity: tuple[str, ...]
    """Ways to get machines that it is of."""

    def is_of(self, machine: str, capacity: str) -> bool:
        """Whether a machine that is got in this way takes from it."""
        return capacity in self.capacity and any(fnmatchcase(machine, one) for one in self.machines)


@cache
def quotas(provider: str) -> tuple[Quota, ...]:
    """Those of one cloud, in the order of the table."""
    return tuple(
        Quota(
            provider,
            row["service"],
            row["code"],
            row["name"],
            row["counts"],
            tuple(row["machines"].split()),
            tuple(row["capacity"].split()),
        )
        for row in rows("quotas")
        if row["provider"] == provider
    )
