"""Racks and units: where nodes and switches stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clusterwright.plan.outline import Outline
from clusterwright.spec.fabric import Switches
from clusterwright.spec.nodeset import expand


@dataclass(frozen=True, slots=True)
class Spot:
    """A rack, and the lowest unit of it that a device takes, where it is known."""

    rack: str
    unit: int | None = None

    def __str__(self) -> str:
        return f"rack {self.rack}, unit {self.unit}" if self.unit else f"rack {self.rack}"


def rack_names(pool: str, names: str | None, racks: int) -> list[str]:
    """Names of a pool's racks in their order; as many as the description has where it names them."""
    return expand(names) if names else [f"{pool}-rack-{number + 1:02d}" for number in range(racks)]


def node_spots(outline: Outline, pool: str) -> dict[str, Spot]:
    """Where each node of a pool stands; none where the description has no racks for them."""
    racks = outline.spec.pools[pool].racks
    nodes = outline.names[pool] or ()
    if racks is None:
        return {}
    names = rack_names(pool, racks.names, -(-len(nodes) // racks.nodes_per_rack))
    found = {}
    for position, node in enumerate(nodes):
        rack, place = divmod(position, racks.nodes_per_rack)
        if rack < len(names):
            above = place * (racks.units or 0)
            unit = racks.first_unit + above if racks.first_unit and (racks.units or not place) else None
            found[node] = Spot(names[rack], unit)
    return found


def switch_spots(switches: Switches | None, heights: Mapping[str, int]) -> dict[str, Spot]:
    """Where each switch stands, one on the other. `heights` are rack units by name, in their order."""
    if switches is None or switches.racks is None:
        return {}
    racks = expand(switches.racks.names)
    spots, unit = {}, switches.racks.first_unit
    for position, (name, height) in enumerate(heights.items()):
        rack, place = divmod(position, switches.racks.per_rack)
        unit = unit if place else switches.racks.first_unit
        if rack < len(racks):
            spots[name] = Spot(racks[rack], unit)
        unit += height
    return spots
