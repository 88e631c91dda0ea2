"""Racks and what stands in them, as every list, check and picture of them sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from clusterwright.spec.floor import Rack, Room, Row


@dataclass(frozen=True, slots=True)
class Kind:
    """What all devices of a pool, a level of the fabric or an entry of `devices` have in common."""

    sort: str
    """`node`, `switch` or `device`."""
    group: str
    """The pool, the level of the fabric, or the name in `devices`."""
    model: str
    watts: int | None
    """The most that one draws; None where no source tells."""
    units: int
    plugs: tuple[str, ...]
    """PDUs of its power supplies; none means every PDU of its rack."""
    path: str
    """The field of the description that it is from."""
    racks: str
    """The field that names its racks."""


class Placed(NamedTuple):
    """One device and where it stands."""

    name: str
    kind: Kind
    rack: str
    unit: int | None
    """Its lowest unit; None where the description does not say."""


class Watts(NamedTuple):
    """A sum of power. What nobody knows is counted, not taken for nothing."""

    known: int = 0
    unknown: int = 0
    """Devices of unknown draw."""


class Limits(Protocol):
    """What a site, a room, a row or a rack may draw, and what heat can be taken from it."""

    @property
    def power_limit(self) -> int | None: ...
    @property
    def cooling_limit(self) -> int | None: ...


@dataclass(frozen=True, slots=True)
class RackPlan:
    """One rack. `room` and `row` are empty where the description has no rooms."""

    name: str
    like: Rack
    """What it is like: the row's words over the room's."""
    room: str = ""
    row: str = ""
    placed: list[Placed] = field(default_factory=list)

    @property
    def top(self) -> int:
        """The highest unit that is drawn: its own height, else what its devices need, 42 at least."""
        if self.like.units:
            return self.like.units
        return max([42, *(one.unit + one.kind.units - 1 for one in self.placed if one.unit)])

    def feed(self, pdu: str) -> str:
        """The supply that a PDU hangs on."""
        return self.like.pdus[pdu].feed or pdu

    @property
    def feeds(self) -> list[str]:
        return sorted({self.feed(pdu) for pdu in self.like.pdus})


@dataclass(frozen=True, slots=True)
class Floor:
    """A site of own machines."""

    site: str
    path: str
    """The site's field in the description: `site` or `sites.NAME`."""
    power_limit: int | None
    cooling_limit: int | None
    feeds: Mapping[str, int]
    """Feeds with what each can carry, where the description says."""
    rooms: Mapping[str, Room]
    racks: Mapping[str, RackPlan]
    """In the order in which they stand."""
    unknown: tuple[Placed, ...]
    """What the description puts into racks that no room has."""
    homeless: tuple[tuple[Kind, int], ...]
    """Kinds of which so many stand in no rack."""
    twice: tuple[tuple[str, str, str], ...]
    """Racks that a row names although another has them: rack, room, row."""

    def of(self, room: str, row: str | None = None) -> Iterable[RackPlan]:
        """The racks of a room, or of one of its rows."""
        return (
            rack for rack in self.racks.values() if rack.room == room and (row is None or rack.row == row)
        )

    def rows(self) -> Iterable[tuple[str, Room, str, Row]]:
        """Every row with its room."""
        return ((name, room, row, one) for name, room in self.rooms.items() for row, one in room.rows.items())
