"""Cables as a list that a person carries along the racks."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO

from clusterwright.catalog.switch_ports import port_name
from clusterwright.plan.wiring.cables import Cable, End, Wiring

COLUMNS = (
    *("from_rack", "from_unit", "from_device", "from_port"),
    *("to_rack", "to_unit", "to_device", "to_port", "gbps"),
)


def rows(wiring: Wiring) -> Iterator[tuple[str, ...]]:
    """A row for each cable, by rack, unit and port of its lower end."""
    for cable in sorted(wiring.cables, key=lambda cable: _order(wiring, cable)):
        lower, upper = _end(wiring, cable.lower), _end(wiring, cable.upper)
        yield (*lower, *upper, str(cable.gbps))


def text(wiring: Wiring) -> str:
    """The list as CSV with a head."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows(wiring))
    return written.getvalue()


def _order(wiring: Wiring, cable: Cable) -> tuple[str, int, str, int]:
    spot = wiring.spot(cable.lower.device)
    at = (spot.rack, spot.unit or 0) if spot else ("", 0)
    return (*at, cable.lower.device, cable.lower.port)


def _end(wiring: Wiring, end: End) -> tuple[str, str, str, str]:
    spot = wiring.spot(end.device)
    rack, unit = (spot.rack, str(spot.unit or "")) if spot else ("", "")
    return rack, unit, end.device, end.card or _printed(wiring, end)


def _printed(wiring: Wiring, end: End) -> str:
    """The port's number, and what it is called there where that is something else."""
    model = wiring.by_name[end.device].model
    label = port_name(model, wiring.system, end.port) or model.label(end.port)
    return str(end.port) if label == str(end.port) else f"{end.port} ({label})"
