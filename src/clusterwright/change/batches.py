"""In which order nodes take their turn when a change is rolled over them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from clusterwright.catalog.changes import Impact
from clusterwright.catalog.software import components
from clusterwright.change.model import Change, impact_by_node
from clusterwright.change.stacks import STACKS
from clusterwright.handoff import Handoff, Node

_ON_THE_NODE = ("software.", "storage.")
"""What else disturbs jobs is told by slurmctld to all nodes in one moment, and cannot be done one by one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Nodes of a pool that take their turn together."""

    pool: str
    nodes: tuple[str, ...]
    canary: bool
    """The first of its pool: when it does not come through, no other is touched."""

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "nodes": list(self.nodes)}


def can_be_rolled(change: Change) -> bool:
    """Whether nodes with the change and nodes without it work side by side."""
    return change.path.startswith(_ON_THE_NODE)


def in_turn(changes: Iterable[Change]) -> dict[str, Impact]:
    """Nodes that a change can be rolled over, with the heaviest that it asks of each."""
    rows = list(changes)
    heavy = [change for change in rows if change.impact.disturbs_jobs and change.what != "removed"]
    barred = {node for change in heavy if not can_be_rolled(change) for node in change.nodes}
    impacts = impact_by_node(change for change in heavy if can_be_rolled(change))
    return {node: impact for node, impact in impacts.items() if node not in barred}


def mixed(changes: Iterable[Change]) -> tuple[str, ...]:
    """Components that jobs of several nodes share, and that are there in two versions while it is rolled."""
    rows = list(changes)
    rolled, known = {*in_turn(rows)}, components()
    moved = [row for row in rows if row.path.startswith(STACKS) and row.what in ("changed", "lowered")]
    names = {change.path.rpartition(".")[2] for change in moved if rolled & {*change.nodes}}
    return tuple(sorted(name for name in names if name in known and known[name].scope == "cluster"))


def batches(
    handoff: Handoff, nodes: Collection[str], size: int = 1, last: Collection[str] = ()
) -> tuple[Batch, ...]:
    """One node of each pool, then `size` at a time; pools with compute nodes after all others.

    `last` are nodes that come at the end of their pool, such as those that do not answer.
    """
    pools: dict[str, list[Node]] = {}
    for node in handoff.nodes:
        if node.name in nodes:
            pools.setdefault(node.pool, []).append(node)
    order = sorted(pools.items(), key=lambda item: _place(item[1][0]))
    return tuple(batch for pool, members in order for batch in _of_pool(pool, members, size, last))


def _place(node: Node) -> int:
    return 0 if "controller" in node.roles else 2 if "compute" in node.roles else 1


def _of_pool(pool: str, members: list[Node], size: int, last: Collection[str]) -> Iterator[Batch]:
    names = [node.name for node in sorted(members, key=lambda node: node.name in last)]
    yield Batch(pool, (names[0],), canary=True)
    for start in range(1, len(names), size):
        yield Batch(pool, tuple(names[start : start + size]), canary=False)
