"""Every switch and every cable of a fabric, from its design."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from clusterwright.catalog.switch_ports import port_name
from clusterwright.catalog.switches import SwitchModel
from clusterwright.plan.outline import Outline
from clusterwright.plan.wiring.design import Design, PoolLeaves, design
from clusterwright.plan.wiring.racks import Spot, node_spots, switch_spots


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch, and where it stands if the description says so."""

    name: str
    level: str
    """`leaf`, `spine` or `core`."""
    model: SwitchModel
    spot: Spot | None


class End(NamedTuple):
    """One end of a cable: a port of a switch, or a node's card (its rail, counted from 1)."""

    device: str
    port: int
    card: str | None = None
    """What a node calls the card; None on a switch."""

    def __str__(self) -> str:
        return f"{self.device} {self.card}" if self.card else f"{self.device}/{self.port}"


class Cable(NamedTuple):
    """A cable from below to above. `gbps` is what its slower end reaches."""

    lower: End
    upper: End
    gbps: int


@dataclass(frozen=True)
class Wiring:
    """A fabric, cable by cable."""

    design: Design
    switches: tuple[Switch, ...]
    cables: tuple[Cable, ...]
    nodes: dict[str, Spot | None]
    """Nodes that hang on it, and where they stand."""
    units: dict[str, tuple[str, int]]
    """Pool and scalable unit of each node, counted from 0."""
    system: str | None = None
    """That runs on Ethernet switches, if the description says so."""

    @cached_property
    def by_name(self) -> dict[str, Switch]:
        return {switch.name: switch for switch in self.switches}

    def spot(self, device: str) -> Spot | None:
        """Where a switch or a node stands."""
        return self.by_name[device].spot if device in self.by_name else self.nodes.get(device)

    def place(self, end: End) -> str:
        """An end as a person finds it: device and port, and where known its name there, rack and unit."""
        return f"{end}{self.about(end.device, end.port)}"

    def about(self, device: str, port: int) -> str:
        """What is known of a port beside its number, ` (swp7s0, rack n1, unit 11)`."""
        switch, spot = self.by_name.get(device), self.spot(device)
        name = port_name(switch.model, self.system, port) if switch and port else None
        words = ", ".join(str(word) for word in (name, spot) if word)
        return f" ({words})" if words else ""


def wiring(outline: Outline) -> Wiring | None:
    """The cables that a description asks for, if it names switches. Raises Unbuildable."""
    made = design(outline)
    if made is None:
        return None
    nodes: dict[str, Spot | None] = {}
    units: dict[str, tuple[str, int]] = {}
    for pool in made.pools:
        found, members = node_spots(outline, pool.pool), outline.names[pool.pool] or ()
        nodes |= {name: found.get(name) for name in members}
        units |= {name: (pool.pool, place // pool.nodes_per_leaf) for place, name in enumerate(members)}
    cables = tuple(_cables(outline, made, _Names(made)))
    system = outline.spec.fabric.switches.system if outline.spec.fabric.switches else None
    return Wiring(made, switches_of(outline, made), cables, nodes, units, system)


def switches_of(outline: Outline, made: Design) -> tuple[Switch, ...]:
    """The switches of a design where the description puts them; leaves first."""
    switches = tuple(_Names(made).switches())
    heights = {switch.name: switch.model.rack_units for switch in switches}
    spots = switch_spots(outline.spec.fabric.switches, heights)
    return tuple(Switch(one.name, one.level, one.model, spots.get(one.name)) for one in switches)


class _Names:
    """Names of switches by their place in the design."""

    def __init__(self, made: Design) -> None:
        self._made = made
        self.leaves: list[str] = []
        self.group_of: dict[str, int] = {}
        group = 0
        for pool in made.pools:
            row = self._pool(pool)
            group = self._group(row, group) if made.levels == 3 else 0
        self._spine_width = len(str(max(1, made.groups * made.spines.switches)))
        self._core_width = len(str(max(1, made.spines.switches * made.cores.switches)))

    def _pool(self, pool: PoolLeaves) -> list[list[str]]:
        """Leaves of a pool, by their place in a unit."""
        if self._made.levels == 1 and self.leaves:
            return []
        rows: list[list[str]] = [[] for _ in range(pool.leaves_per_unit)]
        for number in range(pool.units * pool.leaves_per_unit):
            name = f"{pool.pool}-leaf-{number + 1:02d}"
            rows[number % pool.leaves_per_unit].append(name)
            self.leaves.append(name)
            self.group_of[name] = 0
        return rows

    def _group(self, rows: list[list[str]], group: int) -> int:
        most = self._made.models.spine.ports // 2
        for row in rows:
            parts = -(-len(row) // most)
            size = -(-len(row) // parts)
            for place, name in enumerate(row):
                self.group_of[name] = group + place // size
            group += parts
        return group

    def leaf(self, pool: PoolLeaves, unit: int, place: int) -> str:
        if self._made.levels == 1:
            return self.leaves[0]
        return f"{pool.pool}-leaf-{unit * pool.leaves_per_unit + place + 1:02d}"

    def spine(self, group: int, place: int) -> str:
        number = group * self._made.spines.switches + place + 1
        return f"spine-{number:0{max(2, self._spine_width)}d}"

    def core(self, spine: int, place: int) -> str:
        number = spine * self._made.cores.switches + place + 1
        return f"core-{number:0{max(2, self._core_width)}d}"

    def switches(self) -> Iterator[Switch]:
        made = self._made
        for name in self.leaves:
            yield Switch(name, "leaf", made.models.leaf, None)
        for group in range(made.groups if made.levels > 1 else 0):
            for place in range(made.spines.switches):
                yield Switch(self.spine(group, place), "spine", made.models.spine, None)
        for spine in range(made.spines.switches if made.levels == 3 else 0):
            for place in range(made.cores.switches):
                yield Switch(self.core(spine, place), "core", made.models.core, None)


def _cables(outline: Outline, made: Design, names: _Names) -> Iterator[Cable]:
    yield from _node_cables(outline, made, names)
    yield from _leaf_cables(made, names)
    if made.levels == 3:
        yield from _spine_cables(made, names)


def _node_cables(outline: Outline, made: Design, names: _Names) -> Iterator[Cable]:
    """A node's rails lie beside each other in port numbers of a leaf that carries several."""
    switches = outline.spec.fabric.switches
    called = switches.devices if switches else []
    before = 0
    for pool in made.pools:
        gbps = min(pool.gbps, made.models.leaf.gbps)
        cards = [called[rail] if rail < len(called) else f"mlx5_{rail}" for rail in range(pool.rails)]
        for position, node in enumerate(outline.names[pool.pool] or ()):
            unit, place = divmod(position, pool.nodes_per_leaf)
            for rail in range(pool.rails):
                leaf, within = divmod(rail, pool.rails_per_leaf)
                port = before + place * pool.rails_per_leaf + within + 1
                upper = End(names.leaf(pool, unit, leaf), port)
                yield Cable(End(node, rail + 1, cards[rail]), upper, gbps)
        before += pool.nodes * pool.rails if made.levels == 1 else 0


def _leaf_cables(made: Design, names: _Names) -> Iterator[Cable]:
    """Uplinks take the last ports of a leaf; a spine's ports go to the leaves of its group in their order."""
    gbps = min(made.models.leaf.gbps, made.models.spine.gbps)
    first = made.models.leaf.ports - made.spines.switches * made.spines.each
    seen: dict[int, int] = {}
    for leaf in names.leaves:
        group = names.group_of[leaf]
        below = seen[group] = seen.get(group, -1) + 1
        for spine in range(made.spines.switches):
            for link in range(made.spines.each):
                lower = End(leaf, first + spine * made.spines.each + link + 1)
                upper = End(names.spine(group, spine), below * made.spines.each + link + 1)
                yield Cable(lower, upper, gbps)


def _spine_cables(made: Design, names: _Names) -> Iterator[Cable]:
    gbps = min(made.models.spine.gbps, made.models.core.gbps)
    first = made.models.spine.ports - made.cores.switches * made.cores.each
    for group in range(made.groups):
        for spine in range(made.spines.switches):
            for core in range(made.cores.switches):
                for link in range(made.cores.each):
                    lower = End(names.spine(group, spine), first + core * made.cores.each + link + 1)
                    upper = End(names.core(spine, core), group * made.cores.each + link + 1)
                    yield Cable(lower, upper, gbps)
