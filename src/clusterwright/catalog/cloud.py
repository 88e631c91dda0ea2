"""What a cloud takes: placement groups, boot disks, sizes of its file systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from clusterwright.catalog.table import Row, rows

GIB = 2**30


@dataclass(frozen=True, slots=True)
class PlacementGroup:
    """How many machines of a type one placement policy takes."""

    nodes: int
    gpu_topology: str | None
    """Shape of the NVLink domain that the group is made in, such as `1x72`; None where there is none."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes that a file system can be made in, all in GiB."""

    least: int
    most: int
    step: int

    def take(self, gib: float) -> bool:
        return self.least <= gib <= self.most and (gib - self.least) % self.step == 0


def placement_group(provider: str, machine: str) -> PlacementGroup | None:
    """None where no source tells of placement for this type."""
    row = _matching("placement_groups", provider, machine)
    return PlacementGroup(int(row["nodes"]), row["gpu_topology"] or None) if row else None


def boot_disk(provider: str, machine: str) -> str | None:
    """The disk type that a machine type boots from; None where no source tells."""
    row = _matching("boot_disks", provider, machine)
    return row["disk"] if row else None


@cache
def storage_sizes() -> Mapping[tuple[str, str], tuple[Sizes, ...]]:
    """By kind of share and tier."""
    found: dict[tuple[str, str], list[Sizes]] = {}
    for row in _rows("storage_sizes"):
        sizes = Sizes(int(row["least_gib"]), int(row["most_gib"]), int(row["step_gib"]))
        found.setdefault((row["kind"], row["tier"]), []).append(sizes)
    return {key: tuple(value) for key, value in found.items()}


@cache
def _rows(table: str) -> tuple[Row, ...]:
    return tuple(rows(table))


def _matching(table: str, provider: str, machine: str) -> Row | None:
    """The first row of the provider whose pattern fits."""
    fitting = (
        row for row in _rows(table) if row["provider"] == provider and fnmatchcase(machine, row["machines"])
    )
    return next(fitting, None)
