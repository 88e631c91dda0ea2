"""Racks as a list: every device with its place, its power and where it is plugged in."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

from clusterwright.plan.floor.model import Floor, Placed, RackPlan

COLUMNS = ("site", "room", "row", "rack", "unit", "units", "device", "kind", "model", "watts", "plugs")


def rows(floor: Floor) -> Iterator[tuple[str, ...]]:
    """A row for each device, rack by rack from below."""
    for rack in floor.racks.values():
        for one in from_below(rack):
            yield (
                *(floor.site, rack.room, rack.row, rack.name),
                *(str(one.unit or ""), str(one.kind.units), one.name, one.kind.sort, one.kind.model),
                *("" if one.kind.watts is None else str(one.kind.watts), " ".join(plugs(rack, one))),
            )


def text(floors: tuple[Floor, ...]) -> str:
    """The list as CSV with a head."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    for floor in floors:
        writer.writerows(rows(floor))
    return written.getvalue()


def from_below(rack: RackPlan) -> list[Placed]:
    """Devices by their unit; those without one last."""
    return sorted(rack.placed, key=lambda one: (one.unit is None, one.unit or 0))


def plugs(rack: RackPlan, one: Placed) -> tuple[str, ...]:
    """The PDUs that a device hangs on."""
    return one.kind.plugs or tuple(rack.like.pdus)
