"""Where a pool's nodes stand: rack, NVLink block and the switches above them."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.plan.wiring.design import Design
from clusterwright.plan.wiring.racks import rack_names
from clusterwright.spec.fabric import Fabric
from clusterwright.spec.pool import Pool, Role


@dataclass(frozen=True, slots=True)
class Place:
    """One node's place."""

    rack: str | None
    block: str | None
    switches: tuple[str, ...]


class Layout:
    """Places of one pool. Numbers start anew in every pool, so a pool that grows moves nobody else."""

    def __init__(self, name: str, pool: Pool, fabric: Fabric, spine: str, design: Design | None) -> None:
        compute = Role.COMPUTE in pool.roles
        tree, block = fabric.topology == "tree" and compute, fabric.topology == "block" and compute
        self._name = name
        self._per_rack = pool.racks.nodes_per_rack if pool.racks else None
        self._racks = rack_names(name, pool.racks.names, 0) if pool.racks else []
        self._per_block = fabric.block_size if block else None
        self._above = _Above(name, spine, fabric.nodes_per_leaf, design) if tree else None
        self._made: dict[tuple[str | None, str | None, tuple[str, ...]], Place] = {}

    def at(self, position: int) -> Place:
        """The place of the pool's node at this position, counted from 0."""
        rack = self._rack(position)
        block = _unit(self._name, "block", position, self._per_block)
        switches = self._above.at(position) if self._above else ()
        if (key := (rack, block, switches)) not in self._made:
            self._made[key] = Place(rack, block, switches)
        return self._made[key]

    def _rack(self, position: int) -> str | None:
        number = position // self._per_rack if self._per_rack else 0
        described = number < len(self._racks)
        return self._racks[number] if described else _unit(self._name, "rack", position, self._per_rack)


class _Above:
    """The switches that Slurm is told of. Leaves of one unit, one for each rail, are one to it."""

    def __init__(self, name: str, spine: str, nodes_per_leaf: int | None, design: Design | None) -> None:
        self._name = name
        self._per_leaf, self._word, self._top = nodes_per_leaf, "leaf", spine
        self._per_group: int | None = None
        if design:
            self._by_design(design, spine)

    def _by_design(self, design: Design, spine: str) -> None:
        wired = next((pool for pool in design.pools if pool.pool == self._name), None)
        if wired is None:
            return
        self._per_leaf = wired.nodes_per_leaf
        if wired.leaves_per_unit > 1:
            self._word = "unit"
        if design.levels == 3:
            self._top = "core" + spine.removeprefix("spine")
            if wired.leaves_per_unit == 1:
                self._per_group = wired.nodes_per_leaf * design.leaves_per_group

    def at(self, position: int) -> tuple[str, ...]:
        leaf = _unit(self._name, self._word, position, self._per_leaf)
        group = _unit(self._name, "group", position, self._per_group)
        return tuple(name for name in (leaf, group, self._top) if name) if leaf else ()


def _unit(name: str, kind: str, position: int, size: int | None) -> str | None:
    return f"{name}-{kind}-{position // size + 1:02d}" if size else None
