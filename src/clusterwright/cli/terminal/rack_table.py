"""Racks in numbers, and what stands in one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from clusterwright.cli.terminal.table import print_table
from clusterwright.plan.floor import Floor, RackPlan, Watts, pdu_loads, watts
from clusterwright.plan.floor.listing import from_below, plugs
from clusterwright.plan.floor.model import Limits
from clusterwright.plan.floor.power import feed_loads, kw, site_watts, terms, worst_loads
from clusterwright.spec.nodeset import fold


def print_racks(floor: Floor) -> None:
    """To standard output: racks that are alike in a line, then sums and how they come about."""
    rows = [_alike(floor, racks) for racks in _runs(floor)]
    print_table(("RACKS", "WHERE", "DEVICES", "UNITS", "POWER", "LIMIT", "PDUS"), rows)
    print()
    for words in sums(floor):
        print(words)


def print_rack(rack: RackPlan, *, as_json: bool) -> None:
    """Every device of one rack, from the top down as one sees it."""
    if as_json:
        print(json.dumps(_rack(rack), indent=1))
        return
    rows = []
    for one in reversed(from_below(rack)):
        last = (one.unit or 0) + one.kind.units - 1
        unit = "" if not one.unit else str(one.unit) if last == one.unit else f"{one.unit}-{last}"
        rows.append((unit, one.name, one.kind.model, _watts(one.kind.watts), " ".join(plugs(rack, one))))
    print_table(("UNIT", "DEVICE", "MODEL", "POWER", "PLUGS"), rows)
    print(f"\n{drawn(watts([rack]))}{_of(rack.like.power_limit)}")
    for pdu, now in pdu_loads(rack).items():
        worst, limit = worst_loads(rack)[pdu], rack.like.pdus[pdu].limit
        other = f", {kw(worst)} when another feed fails" if len(rack.feeds) > 1 else ""
        print(f"PDU {pdu} carries {kw(now)}{other}, of {kw(limit)}")


def sums(floor: Floor) -> Iterator[str]:
    """Rooms and rows against their limits, then the site's sum as it is computed."""
    for name, room in floor.rooms.items():
        yield f"room {name}: {drawn(watts(floor.of(name)))}{_within(room)}"
        for row, one in room.rows.items():
            if one.power_limit or one.cooling_limit:
                found = watts(floor.of(name, row))
                yield f"row {row}: {drawn(found)}{_within(one)}"
    for feed, load in feed_loads(floor).items():
        of = f", of {kw(floor.feeds[feed])}" if feed in floor.feeds else ""
        yield f"feed {feed}: {kw(load.now)}, {kw(load.worst)} when another feed fails{of}"
    yield f"{' + '.join(terms(floor))} = {drawn(site_watts(floor))}{_within(floor)}"


def as_json(floors: tuple[Floor, ...]) -> dict[str, Any]:
    """Racks for a program."""
    return {
        "sites": {
            floor.site: {
                "watts": site_watts(floor)._asdict(),
                "feeds": {feed: load._asdict() for feed, load in feed_loads(floor).items()},
                "rooms": {name: watts(floor.of(name))._asdict() for name in floor.rooms},
                "racks": [_rack(rack) for rack in floor.racks.values()],
            }
            for floor in floors
        }
    }


def _rack(rack: RackPlan) -> dict[str, Any]:
    now, worst = pdu_loads(rack), worst_loads(rack)
    return {
        "rack": rack.name,
        "room": rack.room or None,
        "row": rack.row or None,
        "units": rack.like.units,
        "watts": watts([rack])._asdict(),
        "power_limit": rack.like.power_limit,
        "cooling_limit": rack.like.cooling_limit,
        "pdus": {
            name: {"feed": rack.feed(name), "limit": pdu.limit, "watts": now[name], "worst": worst[name]}
            for name, pdu in rack.like.pdus.items()
        },
        "devices": [
            {
                "name": one.name,
                "kind": one.kind.sort,
                "model": one.kind.model,
                "unit": one.unit,
                "units": one.kind.units,
                "watts": one.kind.watts,
                "plugs": plugs(rack, one),
            }
            for one in from_below(rack)
        ],
    }


def _runs(floor: Floor) -> Iterator[list[RackPlan]]:
    """Neighbours of one row with the same in them."""
    run: list[RackPlan] = []
    before: object = None
    for rack in floor.racks.values():
        own = (rack.room, rack.row, rack.like, _contents(rack))
        if run and own != before:
            yield run
            run = []
        run.append(rack)
        before = own
    if run:
        yield run


def _contents(rack: RackPlan) -> dict[tuple[str, str], int]:
    counted: dict[tuple[str, str], int] = {}
    for one in rack.placed:
        key = (one.kind.path, one.kind.group)
        counted[key] = counted.get(key, 0) + 1
    return counted


def _alike(floor: Floor, racks: list[RackPlan]) -> tuple[str, ...]:
    rack = racks[0]
    counted: dict[str, int] = {}
    for one in rack.placed:
        counted[one.kind.group] = counted.get(one.kind.group, 0) + 1
    used = sum(one.kind.units for one in rack.placed if one.unit)
    units = f"{used} of {rack.like.units}" if rack.like.units else str(used or "")
    where = f"{rack.room}/{rack.row}" if floor.rooms else ""
    worst = worst_loads(rack)
    loads = (f"{pdu} {kw(now)} ({kw(worst[pdu])})" for pdu, now in pdu_loads(rack).items())
    return (
        fold(one.name for one in racks),
        where,
        ", ".join(f"{count} {group}" for group, count in counted.items()),
        units,
        drawn(watts([rack])),
        kw(rack.like.power_limit) if rack.like.power_limit else "",
        ", ".join(loads),
    )


def drawn(found: Watts) -> str:
    """A sum, with what is not in it."""
    return kw(found.known) + (f" and {found.unknown} of unknown draw" if found.unknown else "")


def _watts(amount: int | None) -> str:
    return "" if amount is None else kw(amount)


def _of(limit: int | None) -> str:
    return f" of {kw(limit)}" if limit else ""


def _within(limits: Limits) -> str:
    cooled = f", cooled for {kw(limits.cooling_limit)}" if limits.cooling_limit else ""
    return f"{_of(limits.power_limit)}{cooled}"
