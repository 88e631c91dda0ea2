"""How much one card of the fabric carries, as ib_write_bw measures it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class LinkThreshold:
    """A healthy card of this kind and rate is never below `fail`, in Gb/s."""

    kind: str
    gbps: int
    fail: int
    source: str
    date: str


@cache
def link_thresholds() -> tuple[LinkThreshold, ...]:
    return tuple(
        LinkThreshold(row["kind"], int(row["gbps"]), int(row["fail_gbps"]), row["source"], row["date"])
        for row in rows("link_thresholds")
    )


def link_threshold(hardware: Hardware) -> LinkThreshold | None:
    """The bound of a machine type's cards; None where no source has one for ib_write_bw."""
    cards = {(nic.kind, nic.gbps) for nic in hardware.nics}
    return next((row for row in link_thresholds() if (row.kind, row.gbps) in cards), None)
