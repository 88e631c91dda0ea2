"""The fabric as Slurm's topology plugins know it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from clusterwright.handoff import Handoff
from clusterwright.spec.nodeset import fold


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch with the nodes or the switches below it."""

    name: str
    nodes: str | None
    children: str | None


@dataclass(frozen=True, slots=True)
class Block:
    """Nodes of one NVLink domain."""

    name: str
    nodes: str


def switches(handoff: Handoff) -> tuple[Switch, ...]:
    """Leaves first, then the switches above them, each level by name."""
    nodes: dict[str, list[str]] = defaultdict(list)
    children: dict[str, set[str]] = defaultdict(set)
    height: dict[str, int] = {}
    for node in handoff.with_role("compute"):
        for level, name in enumerate(node.switches):
            height[name] = level
            if level:
                children[name].add(node.switches[level - 1])
            else:
                nodes[name].append(node.name)
    return tuple(
        Switch(
            name,
            fold(nodes[name]) if name in nodes else None,
            fold(children[name]) if name in children else None,
        )
        for name in sorted(height, key=lambda name: (height[name], name))
    )


def blocks(handoff: Handoff) -> tuple[Block, ...]:
    members: dict[str, list[str]] = defaultdict(list)
    for node in handoff.with_role("compute"):
        if node.block is not None:
            members[node.block].append(node.name)
    return tuple(Block(name, fold(names)) for name, names in sorted(members.items()))
