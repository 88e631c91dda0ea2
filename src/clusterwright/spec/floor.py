"""The floor that own machines stand on: rooms, rows, racks, power and cooling, and what else is in racks."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictInt

from clusterwright.spec.base import Described
from clusterwright.spec.name import Label, NodeSet
from clusterwright.spec.quantity import Watts

Unit = Annotated[StrictInt, Field(ge=1, le=60)]
"""A rack unit, counted from below, or a number of them."""
Plugs = Annotated[list[Label], Field(max_length=16)]
"""The PDU that each power supply of a device hangs on."""


class Pdu(Described):
    """A power distribution unit of a rack."""

    limit: Watts
    """What it can carry for hours on end; in North America that is 80 percent of its breaker."""
    feed: Label | None = None
    """The supply that it hangs on: PDUs of one feed fail together. Without it, the PDU's own name."""
    starts: Annotated[StrictInt, Field(ge=1)] | None = None
    """Machines on it that `bmc power` may switch on at the same time: supplies and fans draw most at first.
    Without it, as many as there are."""


class Rack(Described):
    """What racks are like. A row's own words come over those of its room."""

    units: Unit | None = None
    """Its height in rack units, 48 for instance."""
    pdus: dict[Label, Pdu] = {}
    """PDUs of each rack by name, `a` and `b` for instance."""
    power_limit: Watts | None = None
    """What one rack may draw."""
    cooling_limit: Watts | None = None
    """The heat that can be taken from one rack."""

    def over(self, base: Rack | None) -> Rack:
        """This one, and of `base` what it does not say."""
        if base is None:
            return self
        said = {key: getattr(self, key) for key in self.model_fields_set}
        return base.model_copy(update=said)


class Row(Described):
    """Racks that stand in one row."""

    racks: NodeSet
    """Their names in the order in which they stand, `a[01-16]` for instance."""
    rack: Rack | None = None
    """What these racks are like, where they differ from those of the room."""
    power_limit: Watts | None = None
    """What the row may draw: its busbar or distribution board."""
    cooling_limit: Watts | None = None
    """The heat that can be taken from the row."""


class Room(Described):
    """A room with rows of racks."""

    rows: Annotated[dict[Label, Row], Field(min_length=1)]
    """Rows by name, in the order in which they stand."""
    rack: Rack = Rack()
    """What its racks are like."""
    power_limit: Watts | None = None
    """What the room may draw."""
    cooling_limit: Watts | None = None
    """The heat that can be taken from the room."""


class Device(Described):
    """Something else in racks: a management switch, a storage server, a cooling unit. One in each of `racks`,
    called `<name>-<rack>`."""

    racks: NodeSet
    """Racks that have one."""
    unit: Unit | None = None
    """Lowest rack unit that it takes."""
    units: Unit = 1
    """Rack units that it takes."""
    power: Watts | None = None
    """The most that one draws."""
    plugs: Plugs = []
    """The PDU of each of its power supplies, `[a, b]`; without it, every PDU of the rack."""
    uplinks: Annotated[list[Label], Field(max_length=64)] = []
    """For a switch: the devices that its uplinks go to, one name for each cable."""
