"""Where a pool's nodes stand: rack, NVLink block and the switches above them."""

from __future__ import annotations

from dataclasses import dataclass

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

    def __init__(self, name: str, pool: Pool, fabric: Fabric, spine: str) -> None:
        compute = Role.COMPUTE in pool.roles
        self._name = name
        self._spine = spine
        self._per_rack = pool.racks.nodes_per_rack if pool.racks else None
        self._per_leaf = fabric.nodes_per_leaf if compute and fabric.topology == "tree" else None
        self._per_block = fabric.block_size if compute and fabric.topology == "block" else None
        self._made: dict[tuple[str | None, str | None, str | None], Place] = {}

    def at(self, position: int) -> Place:
        """The place of the pool's node at this position, counted from 0."""
        rack = self._unit("rack", position, self._per_rack)
        block = self._unit("block", position, self._per_block)
        leaf = self._unit("leaf", position, self._per_leaf)
        if (key := (rack, block, leaf)) not in self._made:
            self._made[key] = Place(rack, block, (leaf, self._spine) if leaf else ())
        return self._made[key]

    def _unit(self, kind: str, position: int, size: int | None) -> str | None:
        return f"{self._name}-{kind}-{position // size + 1:02d}" if size else None
