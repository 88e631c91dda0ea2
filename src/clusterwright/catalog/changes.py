"""What a change of one property of the hand-off costs a running node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Literal

from clusterwright.catalog.table import rows

Kind = Literal["added", "removed", "changed", "lowered"]


class Impact(StrEnum):
    """From nothing to everything."""

    LIVE = "live"
    DAEMON_RESTART = "daemon-restart"
    DRAIN = "drain"
    REBOOT = "reboot"
    REPLACE = "replace"

    @property
    def weight(self) -> int:
        return list(Impact).index(self)

    @property
    def disturbs_jobs(self) -> bool:
        """Slurm's daemons may restart beside running jobs; anything heavier ends them or waits for them."""
        return self.weight >= Impact.DRAIN.weight


@dataclass(frozen=True, slots=True)
class Cost:
    """One row: what the change of a property costs."""

    impact: Impact
    units: tuple[str, ...]
    """Daemons that restart."""
    source: str
    date: str


@cache
def costs() -> Mapping[str, Cost]:
    """By property (`node.features`); `node:added` and `storage.shares:added` are the making of one."""
    return {
        row["property"]: Cost(
            impact=Impact(row["impact"]),
            units=tuple(row["units"].split()),
            source=row["source"],
            date=row["date"],
        )
        for row in rows("changes")
    }


def cost(name: str, kind: Kind = "changed") -> Cost:
    """The row for a property; every property of the hand-off has one."""
    return costs().get(f"{name}:{kind}") or costs()[name]


def cost_of_component(component: str, kind: Kind) -> Cost:
    """The row for a component of the lock; one without a row is replaced beside what runs."""
    general = "software.stacks"
    found = costs().get(f"{general}:{kind}") or costs().get(f"{general}.{component}")
    return found or costs()[general]
