"""Power and cooling of own machines: limits against what the machines draw at most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from clusterwright.checks.floor import LAYOUT, SUM, described, rack_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.floor import Watts, watts
from clusterwright.plan.floor.power import by_kind, kw, site_watts
from clusterwright.plan.outline import Outline
from clusterwright.spec.site import OnpremSite

Key = Literal["power_limit", "cooling_limit"]
_DOES = {"power_limit": "may draw", "cooling_limit": "is cooled for"}
Limit = tuple[str, str, int | None, Watts]
"""Field, what it is of, the limit, and what is drawn there."""


def _broken(limits: Iterable[Limit], key: Key) -> Iterator[Problem]:
    for path, of, limit, drawn in limits:
        if limit is not None and drawn.known > limit:
            what = f"{of} draws {kw(drawn.known)}, and {_DOES[key]} {kw(limit)}"
            yield Problem(path, what, "Put less into it, or write its limit if it is higher")


def _racks(outline: Outline, key: Key) -> Iterator[Limit]:
    """Of each row the rack that draws most: the others are like it."""
    for floor in described(outline):
        for room, _, row, one in floor.rows():
            heaviest = max(floor.of(room, row), key=lambda rack: watts([rack]).known, default=None)
            if heaviest:
                path = rack_field(floor, room, row, one, key)
                yield path, f"the rack '{heaviest.name}'", getattr(heaviest.like, key), watts([heaviest])


def _rows(outline: Outline, key: Key) -> Iterator[Limit]:
    for floor in described(outline):
        for room, _, row, one in floor.rows():
            path = f"{floor.path}.rooms.{room}.rows.{row}.{key}"
            yield path, f"the row '{row}'", getattr(one, key), watts(floor.of(room, row))


def _rooms(outline: Outline, key: Key) -> Iterator[Limit]:
    for floor in described(outline):
        for name, room in floor.rooms.items():
            path = f"{floor.path}.rooms.{name}.{key}"
            yield path, f"the room '{name}'", getattr(room, key), watts(floor.of(name))


def _sites(outline: Outline, key: Key) -> Iterator[Limit]:
    for floor in outline.floors:
        limit = getattr(outline.sites[floor.site], key)
        if limit is not None:
            yield f"{floor.path}.{key}", "the site", limit, site_watts(floor)


@rule(
    "CW1624",
    "A rack draws more than it may",
    source=SUM,
    example="rooms: {hall: {rack: {power_limit: 20 kW}, …}}",
)
def rack_power(outline: Outline) -> Iterator[Problem]:
    """Everything in the rack counts: nodes, switches and what else stands there."""
    yield from _broken(_racks(outline, "power_limit"), "power_limit")


@rule("CW1625", "A row draws more than it may", source=SUM, example="rows: {a: {power_limit: 100 kW, …}}")
def row_power(outline: Outline) -> Iterator[Problem]:
    """A busbar or a distribution board feeds the row, and its breaker opens for all of it."""
    yield from _broken(_rows(outline, "power_limit"), "power_limit")


@rule(
    "CW1626", "A room draws more than it may", source=SUM, example="rooms: {hall: {power_limit: 100 kW, …}}"
)
def room_power(outline: Outline) -> Iterator[Problem]:
    """Its rows may each be within their limit, and their sum is not."""
    yield from _broken(_rooms(outline, "power_limit"), "power_limit")


@rule("CW1627", "A site draws more than it may", source=SUM, example="site: {power_limit: 1 MW, …}")
def site_power(outline: Outline) -> Iterator[Problem]:
    """What the utility or the data centre's contract allows is a limit of the whole."""
    yield from _broken(_sites(outline, "power_limit"), "power_limit")


@rule(
    "CW1628",
    "A rack is hotter than its cooling",
    source=SUM,
    example="rooms: {hall: {rack: {cooling_limit: 20 kW}, …}}",
)
def rack_cooling(outline: Outline) -> Iterator[Problem]:
    """All power becomes heat. What is not taken away makes GPUs slow first, and then shuts them down."""
    yield from _broken(_racks(outline, "cooling_limit"), "cooling_limit")


@rule(
    "CW1629", "A row is hotter than its cooling", source=SUM, example="rows: {a: {cooling_limit: 100 kW, …}}"
)
def row_cooling(outline: Outline) -> Iterator[Problem]:
    """Coolers of a row share its aisle: one hot rack is cooled by the others' air, a hot row is not."""
    yield from _broken(_rows(outline, "cooling_limit"), "cooling_limit")


@rule(
    "CW1630",
    "A room is hotter than its cooling",
    source=SUM,
    example="rooms: {hall: {cooling_limit: 100 kW, …}}",
)
def room_cooling(outline: Outline) -> Iterator[Problem]:
    """The room's air or water takes so much heat and no more."""
    yield from _broken(_rooms(outline, "cooling_limit"), "cooling_limit")


@rule("CW1631", "A site is hotter than its cooling", source=SUM, example="site: {cooling_limit: 1 MW, …}")
def site_cooling(outline: Outline) -> Iterator[Problem]:
    """Chillers and towers are of the whole site."""
    yield from _broken(_sites(outline, "cooling_limit"), "cooling_limit")


@rule(
    "CW1638",
    "Watts that nobody knows",
    source="an unknown fact stays unknown in the catalog: no source tells what this draws",
    example="rooms: {…}, fabric: {switches: {model: qm9700}}",
    severity=Severity.WARNING,
)
def watts_unknown(outline: Outline) -> Iterator[Problem]:
    """Limits are compared with what is known, and this is counted as nothing."""
    for floor in described(outline):
        told: set[str] = set()
        for kind, count in by_kind(floor).items():
            field = "fabric.switches.power" if kind.sort == "switch" else f"{kind.path}.power"
            if kind.watts is None and field not in told:
                told.add(field)
                alike = [k for k in by_kind(floor) if k.model == kind.model and k.path == kind.path]
                number = sum(by_kind(floor)[k] for k in alike) if len(alike) > 1 else count
                what = f"nobody says what '{kind.model}' draws, and {number} of them are in no sum"
                yield Problem(field, what, "Write `power`, from its name plate or measured")


@rule(
    "CW1639",
    "A limit above the one around it",
    source=LAYOUT,
    example="rooms: {hall: {power_limit: 500 kW, rows: {a: {power_limit: 600 kW, …}}}}",
    severity=Severity.WARNING,
)
def limit_above(outline: Outline) -> Iterator[Problem]:
    """A row cannot get more than its room has; one of the two is wrong."""
    for floor in described(outline):
        site = outline.sites[floor.site]
        for key in ("power_limit", "cooling_limit"):
            whole = getattr(site, key) if isinstance(site, OnpremSite) else None
            for name, room in floor.rooms.items():
                path, own = f"{floor.path}.rooms.{name}", getattr(room, key)
                if own and whole and own > whole:
                    yield Problem(f"{path}.{key}", f"{kw(own)}, and the whole site has {kw(whole)}", _LOWER)
                for row, one in room.rows.items():
                    inner = getattr(one, key)
                    if inner and own and inner > own:
                        what = f"{kw(inner)}, and the whole room has {kw(own)}"
                        yield Problem(f"{path}.rows.{row}.{key}", what, _LOWER)


_LOWER = "Write the lower of the two, or mend the one around it"
