"""How many switches a fabric has on each level, and how many links join them.

Leaves of one rail (in a fat-tree, leaves beside each other) form a group under the same spines; where one
group of spines does not reach all leaves, cores join the groups. Each leaf has the same links to each of its
spines, because InfiniBand's routing balances only what is symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil

from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.switches import SwitchModel, switch_models
from clusterwright.plan.outline import Outline
from clusterwright.spec.fabric import Switches
from clusterwright.spec.pool import Role


class Unbuildable(Exception):
    """Why these switches cannot join these machines. `field` is below `fabric`."""

    def __init__(self, field: str, what: str, remedy: str) -> None:
        self.field, self.remedy = field, remedy
        super().__init__(what)


@dataclass(frozen=True, slots=True)
class Models:
    """The switch of each level."""

    leaf: SwitchModel
    spine: SwitchModel
    core: SwitchModel


@dataclass(frozen=True, slots=True)
class PoolLeaves:
    """One pool's leaves: scalable units of `nodes_per_leaf` nodes, each with the same number of leaves."""

    pool: str
    nodes: int
    """That ports are kept for."""
    rails: int
    gbps: int
    """Of one card."""
    nodes_per_leaf: int
    rails_per_leaf: int

    @property
    def units(self) -> int:
        return ceil(self.nodes / self.nodes_per_leaf)

    @property
    def leaves_per_unit(self) -> int:
        return self.rails // self.rails_per_leaf

    @property
    def down(self) -> int:
        """Ports of a leaf that nodes take."""
        return min(self.nodes, self.nodes_per_leaf) * self.rails_per_leaf


@dataclass(frozen=True, slots=True)
class Links:
    """Switches above a switch, and links to each of them."""

    switches: int
    each: int


@dataclass(frozen=True, slots=True)
class Design:
    """A fabric in numbers. One level has no spines, two levels no cores."""

    models: Models
    pools: tuple[PoolLeaves, ...]
    groups: int
    leaves_per_group: int
    """Most leaves of a group."""
    spines: Links
    """Of one group."""
    cores: Links
    """Above the spines of one place in their groups."""

    @property
    def levels(self) -> int:
        return 1 + bool(self.spines.switches) + bool(self.cores.switches)

    @property
    def ratio(self) -> float:
        """Bandwidth of the fullest leaf's nodes for each part of its uplinks."""
        up = self.spines.switches * self.spines.each * min(self.models.leaf.gbps, self.models.spine.gbps)
        down = max(pool.down * min(pool.gbps, self.models.leaf.gbps) for pool in self.pools)
        return down / up if up else 1.0


def fabric_cards(kind: MachineType | None) -> int:
    """How many cards of a machine hang on the fabric; they are its rails."""
    return sum(card.is_fabric for card in kind.cards) if kind else 0


def wired_pools(outline: Outline) -> Iterator[tuple[str, MachineType]]:
    """Pools whose machines have cards on the fabric, and stand at a site of one's own."""
    for name, _ in outline.pools_with(Role.COMPUTE):
        kind, site = outline.types[name], outline.site_names[name]
        if kind and site and outline.sites[site].provider == "onprem" and fabric_cards(kind):
            yield name, kind


def models(switches: Switches, known: Mapping[str, SwitchModel] | None = None) -> Models:
    """Raises Unbuildable where the catalogue does not know one."""
    known = switch_models() if known is None else known
    named = {
        "switches.model": switches.model,
        "switches.spine": switches.spine or switches.model,
        "switches.core": switches.core or switches.spine or switches.model,
    }
    for field, name in named.items():
        if name not in known:
            raise Unbuildable(field, f"no switch '{name}' is known", f"There are: {', '.join(sorted(known))}")
    return Models(*(known[name] for name in named.values()))


def pool_leaves(outline: Outline, switches: Switches, leaf: SwitchModel) -> tuple[PoolLeaves, ...]:
    """How each pool hangs on leaves. Raises Unbuildable where a leaf is too small for its nodes."""
    return tuple(_leaves_of(outline, switches, leaf, name, kind) for name, kind in wired_pools(outline))


def _leaves_of(
    outline: Outline, switches: Switches, leaf: SwitchModel, name: str, kind: MachineType
) -> PoolLeaves:
    rails = fabric_cards(kind)
    gbps = max(card.gbps for card in kind.cards if card.is_fabric)
    nodes = max(outline.count(name), switches.sized_for or 0)
    room = leaf_room(leaf, switches.oversubscription)
    together = rails if switches.design == "fat-tree" else 1
    wanted = outline.spec.fabric.nodes_per_leaf or min(nodes, max(1, room // together))
    rails_per_leaf = next(
        (size for size in range(rails, together - 1, -1) if rails % size == 0 and size * wanted <= room), 0
    )
    if not rails_per_leaf:
        needed = "all their cards" if together > 1 else "one card of each"
        what = f"{wanted} nodes on one leaf, {needed}, are more than '{leaf.model}' has ports for: {room}"
        field = "nodes_per_leaf" if outline.spec.fabric.nodes_per_leaf else "switches.model"
        raise Unbuildable(field, what, f"Write {max(1, room // together)} or fewer")
    return PoolLeaves(name, nodes, rails, gbps, wanted, rails_per_leaf)


def leaf_room(leaf: SwitchModel, oversubscription: float) -> int:
    """Ports of a leaf for nodes when the others are its uplinks."""
    return int(leaf.ports * oversubscription / (1 + oversubscription))


def design(outline: Outline) -> Design | None:
    """The fabric that a description asks for, if it does. Raises Unbuildable."""
    switches = outline.spec.fabric.switches
    if switches is None:
        return None
    chosen = models(switches)
    pools = pool_leaves(outline, switches, chosen.leaf)
    if not pools:
        return None
    if sum(pool.nodes * pool.rails for pool in pools) <= chosen.leaf.ports:
        return Design(chosen, _on_one_leaf(pools), 1, 1, Links(0, 0), Links(0, 0))
    uplinks = ceil(max(pool.down for pool in pools) / switches.oversubscription)
    leaves = sum(pool.units * pool.leaves_per_unit for pool in pools)
    free = chosen.leaf.ports - max(pool.down for pool in pools)
    if spines := _links(leaves, uplinks, free, chosen.spine.ports):
        return Design(chosen, pools, 1, leaves, spines, Links(0, 0))
    return _three_levels(chosen, pools, uplinks, free)


def _on_one_leaf(pools: tuple[PoolLeaves, ...]) -> tuple[PoolLeaves, ...]:
    return tuple(PoolLeaves(one.pool, one.nodes, one.rails, one.gbps, one.nodes, one.rails) for one in pools)


def _links(below: int, uplinks: int, free: int, ports: int) -> Links | None:
    """The fewest switches above, two at least, over which `uplinks` of each one below spread evenly."""
    for switches in range(2, uplinks + 1):
        each = ceil(uplinks / switches)
        if below * each <= ports and switches * each <= free:
            return Links(switches, each)
    return None


def _three_levels(chosen: Models, pools: tuple[PoolLeaves, ...], uplinks: int, free: int) -> Design:
    half = chosen.spine.ports // 2
    rows = [pool.units for pool in pools for _ in range(pool.leaves_per_unit)]
    groups = sum(ceil(row / half) for row in rows)
    largest = max(ceil(row / ceil(row / half)) for row in rows)
    spines = _links(largest, uplinks, free, half)
    cores = spines and _cores(chosen, groups, largest * spines.each)
    if spines is None or cores is None:
        most = chosen.leaf.ports // 2 * half * chosen.core.ports // 2
        what = f"three levels of these switches do not join {sum(p.nodes * p.rails for p in pools)} cards"
        raise Unbuildable(
            "switches", what, f"Take switches with more ports: these join up to some {2 * most:,}"
        )
    return Design(chosen, pools, groups, largest, spines, cores)


def _cores(chosen: Models, groups: int, uplinks: int) -> Links | None:
    for switches in range(1, uplinks + 1):
        each = ceil(uplinks / switches)
        if groups * each <= chosen.core.ports and switches * each <= chosen.spine.ports - uplinks:
            return Links(switches, each)
    return None
