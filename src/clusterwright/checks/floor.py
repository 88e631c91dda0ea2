"""Racks of own machines: whether everything stands where the description says that there is room."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.floor import Floor, Placed, RackPlan
from clusterwright.plan.outline import Outline
from clusterwright.spec.floor import Rack, Row
from clusterwright.spec.pool import Role
from clusterwright.spec.site import OnpremSite

LAYOUT = "the description's own rooms, rows and racks"
SUM = "the sum of what machines, switches and devices draw at most: catalog and description"


def described(outline: Outline) -> Iterator[Floor]:
    """Floors whose rooms are described: of the others nobody knows the limits."""
    return (floor for floor in outline.floors if floor.rooms)


def rack_field(floor: Floor, room: str, row: str, one: Row, key: str) -> str:
    """Where a row's racks get this from: its own words, or those of the room."""
    place = f"{floor.path}.rooms.{room}"
    own = one.rack or Rack()
    return f"{place}.rows.{row}.rack.{key}" if key in own.model_fields_set else f"{place}.rack.{key}"


def _first_of_each(placed: tuple[Placed, ...] | list[Placed]) -> dict[str, list[Placed]]:
    """By the field to blame: one finding tells of all."""
    found: dict[str, list[Placed]] = {}
    for one in placed:
        found.setdefault(one.kind.racks, []).append(one)
    return found


def _some(names: list[str]) -> str:
    distinct = list(dict.fromkeys(names))
    shown = ", ".join(f"'{name}'" for name in distinct[:3])
    return shown if len(distinct) <= 3 else f"{shown} and {len(distinct) - 3} more"


@rule(
    "CW1614",
    "A rack that no room has",
    source=LAYOUT,
    example='site: {rooms: {hall: {rows: {a: {racks: "a[1-4]"}}}}}, pools: {gpu: {racks: {names: b1}}}',
)
def rack_nowhere(outline: Outline) -> Iterator[Problem]:
    """What stands there would be in no sum of power, and on no drawing."""
    for floor in described(outline):
        for path, placed in _first_of_each(floor.unknown).items():
            what = f"no row of a room has the rack {_some([one.rack for one in placed])}"
            yield Problem(path, what, f"Add it to a row of '{floor.path}.rooms', or name one that is there")


@rule(
    "CW1615",
    "A rack in two places",
    source=LAYOUT,
    example='rooms: {hall: {rows: {a: {racks: "r[1-4]"}, b: {racks: "r[4-8]"}}}}',
)
def rack_twice(outline: Outline) -> Iterator[Problem]:
    """Its load would be counted in one row and cooled in the other."""
    for floor in described(outline):
        for rack, room, row in floor.twice:
            other = floor.racks[rack]
            what = f"the rack '{rack}' stands in the row '{other.row}' of '{other.room}' already"
            yield Problem(f"{floor.path}.rooms.{room}.rows.{row}.racks", what, "Name it in one row")


@rule(
    "CW1616",
    "Above the top of the rack",
    source=LAYOUT,
    example="rack: {units: 42}, pools: {gpu: {racks: {nodes_per_rack: 5, first_unit: 5, units: 8}}}",
)
def above_the_top(outline: Outline) -> Iterator[Problem]:
    """The last ones do not fit in."""
    told: set[str] = set()
    for floor in described(outline):
        for rack in floor.racks.values():
            for one in rack.placed:
                end = (one.unit or 0) + one.kind.units - 1
                if one.unit and rack.like.units and end > rack.like.units and one.kind.path not in told:
                    told.add(one.kind.path)
                    what = (
                        f"'{one.name}' ends at unit {end}, and the rack '{rack.name}' has {rack.like.units}"
                    )
                    field = "unit" if one.kind.sort == "device" else "first_unit"
                    yield Problem(f"{one.kind.path}.{field}", what, "Start lower, or put fewer into a rack")


@rule(
    "CW1617",
    "A device where another one stands",
    source=LAYOUT,
    example="devices: {oob: {racks: a1, unit: 5}}, pools: {gpu: {racks: {names: a1, first_unit: 5}}}",
)
def device_on_another(outline: Outline) -> Iterator[Problem]:
    """One of them stands elsewhere, and whoever mounts them finds out."""
    told: set[str] = set()
    for floor in outline.floors:
        for rack in floor.racks.values():
            for one, other, unit in _collisions(rack):
                if one.kind.path not in told:
                    told.add(one.kind.path)
                    what = f"unit {unit} of the rack '{rack.name}' has '{one.name}' and '{other.name}'"
                    yield Problem(f"{one.kind.path}.unit", what, "Give the device another unit")


def _collisions(rack: RackPlan) -> Iterator[tuple[Placed, Placed, int]]:
    """Devices over anything; nodes and switches among themselves are another rule's."""
    if not any(one.kind.sort == "device" for one in rack.placed):
        return
    taken: dict[int, Placed] = {}
    for one in rack.placed:
        for unit in range(one.unit, one.unit + one.kind.units) if one.unit else ():
            other = taken.setdefault(unit, one)
            if other is not one and "device" in (one.kind.sort, other.kind.sort):
                yield (one, other, unit) if one.kind.sort == "device" else (other, one, unit)
                break


@rule(
    "CW1618",
    "A pool that stands in no rack",
    source=LAYOUT,
    example="site: {rooms: …}, pools: {login: {roles: login}}",
    severity=Severity.WARNING,
)
def in_no_rack(outline: Outline) -> Iterator[Problem]:
    """Rooms are described, and these machines are on no drawing and in no sum but the site's."""
    for floor in described(outline):
        for kind, count in floor.homeless:
            if kind.sort == "node" and outline.spec.pools[kind.group].racks is None:
                what = f"rooms are described, and {count} of '{kind.group}' stand in no rack"
                yield Problem(f"pools.{kind.group}", what, "Add `racks: {names: …, nodes_per_rack: …}`")


@rule(
    "CW1619",
    "A name that says another rack",
    source="the site's own names: people go where a name sends them",
    example='pools: {gpu: {nodes: "a1gpu[1-8]", racks: {nodes_per_rack: 4, names: "a[2-3]"}}}',
    severity=Severity.WARNING,
)
def name_of_another_rack(outline: Outline) -> Iterator[Problem]:
    """Its name begins with the name of a rack, and it stands in another."""
    told: set[str] = set()
    for floor in described(outline):
        lengths = sorted({len(name) for name in floor.racks}, reverse=True)
        for rack in floor.racks.values():
            for one in rack.placed:
                said = _rack_in(one.name, floor, lengths) if one.kind.sort == "node" else None
                if said and said != rack.name and one.kind.path not in told:
                    told.add(one.kind.path)
                    what = f"'{one.name}' stands in the rack '{rack.name}', and its name says '{said}'"
                    yield Problem(one.kind.racks, what, "Name the racks in the order of the nodes")


def _rack_in(name: str, floor: Floor, lengths: list[int]) -> str | None:
    """The longest rack's name that a node's name begins with, as a word of its own."""
    for length in lengths:
        if len(name) > length and name[:length] in floor.racks and not name[length].isdigit():
            return name[:length]
    return None


@rule(
    "CW1620",
    "A rack without a height",
    source=LAYOUT,
    example='rooms: {hall: {rows: {a: {racks: "a[1-4]"}}}}',
    severity=Severity.WARNING,
)
def height_unknown(outline: Outline) -> Iterator[Problem]:
    """Nobody can say whether everything fits into it."""
    for floor in described(outline):
        for room, one, row, _ in floor.rows():
            if not one.rack.units and any(rack.like.units is None for rack in floor.of(room, row)):
                path = f"{floor.path}.rooms.{room}.rows.{row}"
                yield Problem(path, f"the racks of row '{row}' have no height", "Add `rack: {units: 48}`")


@rule(
    "CW1621",
    "All login nodes in one rack",
    source=LAYOUT,
    example="pools: {login: {roles: login, count: 2, racks: {nodes_per_rack: 2}}}",
    severity=Severity.WARNING,
)
def logins_together(outline: Outline) -> Iterator[Problem]:
    """There are several so that one may fail; a breaker or a switch of that rack takes them all."""
    pools = [name for name, _ in outline.pools_with(Role.LOGIN)]
    for floor in described(outline):
        racks = [
            (one.kind.path, rack.name)
            for rack in floor.racks.values()
            for one in rack.placed
            if one.kind.sort == "node" and one.kind.group in pools
        ]
        if len(racks) > 1 and len({rack for _, rack in racks}) == 1:
            what = f"all {len(racks)} login nodes stand in the rack '{racks[0][1]}'"
            yield Problem(f"{racks[0][0]}.nodes_per_rack", what, "Put them into two racks")


@rule(
    "CW1622",
    "An uplink to nowhere",
    source=LAYOUT,
    example="devices: {oob: {racks: a1, uplinks: [core-n9]}}",
)
def uplink_to_nowhere(outline: Outline) -> Iterator[Problem]:
    """Its cable would end in no switch that is described."""
    for floor, _ in _sites(outline):
        known = {one.name for rack in floor.racks.values() for one in rack.placed if one.kind.sort != "node"}
        for path, name, uplinks in _uplinks(outline, floor):
            for uplink in dict.fromkeys(uplinks):
                if uplink not in known:
                    what = f"'{name}' has an uplink to '{uplink}', and no switch or device is called so"
                    yield Problem(path, what, "Write NAME-RACK of a device, or a switch's name")


@rule(
    "CW1623",
    "All uplinks of a rack in one switch",
    source="a switch fails as a whole: links that are to stand in for each other end in two",
    example="devices: {oob: {racks: a1, uplinks: [core-n1, core-n1]}}",
    severity=Severity.WARNING,
)
def uplinks_together(outline: Outline) -> Iterator[Problem]:
    """When that switch fails, every device of the rack is gone with it."""
    for floor, _ in _sites(outline):
        for path, name, uplinks in _uplinks(outline, floor):
            if len(uplinks) > 1 and len(set(uplinks)) == 1:
                what = f"all {len(uplinks)} uplinks of '{name}' end in '{uplinks[0]}'"
                yield Problem(path, what, "Lead them to two switches")


def _sites(outline: Outline) -> Iterator[tuple[Floor, OnpremSite]]:
    for floor in outline.floors:
        site = outline.sites[floor.site]
        if isinstance(site, OnpremSite):
            yield floor, site


def _uplinks(outline: Outline, floor: Floor) -> Iterator[tuple[str, str, list[str]]]:
    site = outline.sites[floor.site]
    for name, device in site.devices.items() if isinstance(site, OnpremSite) else ():
        if device.uplinks:
            yield f"{floor.path}.devices.{name}.uplinks", name, device.uplinks
