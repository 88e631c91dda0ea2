"""What a plan comes to, in figures: for tables, budgets and pipelines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from clusterwright.catalog.hardware import Hardware
from clusterwright.plan.cost import PARTS, Metered, PoolCost, ServiceCost
from clusterwright.plan.floor import Floor, Watts, watts
from clusterwright.plan.floor.power import site_watts, terms
from clusterwright.plan.model import ClusterPlan, PlannedNode
from clusterwright.plan.outline import Outline
from clusterwright.plan.owning import OwnCost, own_costs
from clusterwright.spec.nodeset import fold


@dataclass(frozen=True, slots=True)
class Cards:
    """Network cards of one kind and speed in one node."""

    kind: str
    gbps: int
    count: int


@dataclass(frozen=True, slots=True)
class PoolFigures:
    """One pool. `watts` is the most that its machines draw, None where no source tells."""

    pool: str
    site: str
    roles: tuple[str, ...]
    machine: str
    nodes: int
    names: str
    gpus: int
    gpu_type: str | None
    gpu_memory_mib: int | None
    cards: tuple[Cards, ...]
    watts: int | None
    capacity: str | None
    """How a cloud is asked for them; None for machines of one's own."""
    usd_per_hour: float | None
    """Of all its machines; None where no source tells, and for machines of one's own."""
    price_date: str | None


@dataclass(frozen=True, slots=True)
class ServiceFigures:
    """Something beside machines. `usd_per_hour` is None where no source tells."""

    part: str
    name: str
    service: str
    region: str
    usd_per_hour: float | None
    price_date: str | None


@dataclass(frozen=True, slots=True)
class MeteredFigures:
    """What is paid by how much it is used: in no sum."""

    name: str
    unit: str
    usd: float
    price_date: str


@dataclass(frozen=True, slots=True)
class RackFigures:
    """Racks of own machines that draw the same, with switches and whatever else stands in them."""

    names: str
    watts: int
    unknown: int
    """Devices in each of them of unknown draw."""


@dataclass(frozen=True, slots=True)
class SiteFigures:
    """Own machines of one site: their power by rack, and the sum with what it is made of."""

    site: str
    watts: int
    unknown: int
    terms: tuple[str, ...]
    """`127 × hgx-h100-8gpu 10.2 kW` …"""
    racks: tuple[RackFigures, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The whole cluster. `watts` sums what is known; `nodes_of_unknown_watts` are not in it. So do prices."""

    cluster: str
    pools: tuple[PoolFigures, ...]
    nodes: int
    gpus: int
    cpus: int
    memory_mib: int
    watts: int
    nodes_of_unknown_watts: int
    usd_per_hour: float | None
    """With every node up, busy or idle. None where nothing is known, or no cloud makes anything."""
    usd_per_month: float | None
    least_usd_per_hour: float | None
    """With every compute node gone that is paid only as long as it runs."""
    parts: Mapping[str, float]
    """US dollars an hour of pools, storage and network, as far as known."""
    services: tuple[ServiceFigures, ...]
    metered: tuple[MeteredFigures, ...]
    nodes_of_unknown_price: int
    topology: str
    leaves: int
    blocks: int
    racks: int
    own: tuple[SiteFigures, ...]
    """Sites of own machines that stand in racks."""
    own_costs: tuple[OwnCost, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def summary(plan: ClusterPlan) -> Summary:
    """Figures of a plan, pools in the order of the description."""
    by_pool: dict[str, list[PlannedNode]] = {}
    for node in plan.nodes:
        by_pool.setdefault(node.pool, []).append(node)
    outline = Outline(plan.spec, {})
    costs = {cost.pool: cost for cost in plan.cost.pools}
    pools = tuple(
        _pool(pool, nodes, plan.hardware[nodes[0].machine], outline.watts(pool), costs.get(pool))
        for pool, nodes in by_pool.items()
    )
    compute = [plan.hardware[node.machine] for node in plan.with_role("compute")]
    return Summary(
        cluster=plan.spec.cluster,
        pools=pools,
        nodes=len(plan.nodes),
        gpus=sum(pool.gpus for pool in pools),
        cpus=sum(row.cpus for row in compute),
        memory_mib=sum(row.memory_mib for row in compute),
        watts=sum(pool.watts or 0 for pool in pools),
        nodes_of_unknown_watts=sum(pool.nodes for pool in pools if pool.watts is None),
        usd_per_hour=plan.cost.usd_per_hour if plan.cost.dates else None,
        usd_per_month=plan.cost.usd_per_month if plan.cost.dates else None,
        least_usd_per_hour=plan.cost.least_usd_per_hour if plan.cost.dates else None,
        parts={part: plan.cost.of(part) for part in PARTS} if plan.cost.dates else {},
        services=tuple(_service(one) for one in plan.cost.services),
        metered=tuple(_metered(one) for one in plan.cost.metered),
        nodes_of_unknown_price=sum(cost.nodes for cost in plan.cost.unpriced),
        topology=plan.spec.fabric.topology,
        leaves=_different(node.switches[0] for node in plan.nodes if node.switches),
        blocks=_different(node.block for node in plan.nodes if node.block),
        racks=_different(node.rack for node in plan.nodes if node.rack),
        own=tuple(_site(floor) for floor in outline.floors if floor.racks),
        own_costs=tuple(own_costs(outline)),
    )


def _site(floor: Floor) -> SiteFigures:
    alike: dict[Watts, list[str]] = {}
    for rack in floor.racks.values():
        alike.setdefault(watts([rack]), []).append(rack.name)
    racks = (RackFigures(fold(names), *drawn) for drawn, names in alike.items())
    return SiteFigures(floor.site, *site_watts(floor), tuple(terms(floor)), tuple(racks))


def _pool(
    pool: str, nodes: list[PlannedNode], row: Hardware, each: int | None, cost: PoolCost | None
) -> PoolFigures:
    cards = Counter((nic.kind, nic.gbps) for nic in row.nics)
    return PoolFigures(
        pool=pool,
        site=nodes[0].site,
        roles=nodes[0].roles,
        machine=row.machine,
        nodes=len(nodes),
        names=fold(node.name for node in nodes),
        gpus=len(nodes) * len(row.gpus),
        gpu_type=row.gpu_type,
        gpu_memory_mib=row.gpu_memory_mib,
        cards=tuple(Cards(kind, gbps, count) for (kind, gbps), count in sorted(cards.items())),
        watts=None if each is None else each * len(nodes),
        capacity=cost.capacity if cost else None,
        usd_per_hour=cost.usd_per_hour if cost else None,
        price_date=cost.price.date if cost and cost.price else None,
    )


def _service(cost: ServiceCost) -> ServiceFigures:
    date = cost.price.date if cost.price else None
    return ServiceFigures(cost.part, cost.name, cost.service, cost.region, cost.usd_per_hour, date)


def _metered(cost: Metered) -> MeteredFigures:
    return MeteredFigures(cost.name, cost.price.unit, cost.price.usd, cost.price.date)


def _different(values: Iterable[object]) -> int:
    return len(set(values))
