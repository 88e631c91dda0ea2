"""From a plan to what AWS is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from clusterwright.catalog.images import image
from clusterwright.catalog.machine_catalog import MachineCatalog, MachineType
from clusterwright.catalog.machines import catalog as shipped
from clusterwright.plan.aws.model import AwsPlan, Machine, PlacementGroup
from clusterwright.plan.aws.storage import file_systems
from clusterwright.plan.interfaces import interface_plan
from clusterwright.plan.kept import kept
from clusterwright.plan.model import ClusterPlan, PlannedNode
from clusterwright.plan.subnets import split
from clusterwright.spec.capacity import Capacity
from clusterwright.spec.pool import Pool
from clusterwright.spec.site import AwsSite

_DISK_GIB, _GPU_DISK_GIB = 100, 200
_GIB = 2**30
NO_GROUP = {"reservation", "capacity-block"}
"""A Capacity Block stands together by itself, and a reservation is in the group that it was made in: Amazon
EC2 User Guide, Capacity Blocks; cluster placement groups with Capacity Reservations."""
PARTITIONS = 7
"""The most of a group in one zone, and the most instances of a `spread` group there: Amazon EC2 User Guide,
placement groups."""


def aws_plan(plan: ClusterPlan, *, catalog: MachineCatalog | None = None) -> AwsPlan:
    """Of a cluster whose only site is on AWS, and that passed its checks."""
    ((planned, site),) = ((one, _site(plan, one.name)) for one in plan.sites)
    types = (catalog or shipped()).types
    groups = {name: group for name in plan.spec.pools if (group := _group(plan, types, name))}
    return AwsPlan(
        cluster=plan.spec.cluster,
        region=site.region,
        zone=site.zone,
        network=planned.network,
        subnets=None if site.vpc else split(IPv4Network(planned.network)),
        vpc=site.vpc,
        machines=tuple(_machines(plan, types, groups)),
        placement=tuple(groups.values()),
        file_systems=tuple(file_systems(plan.spec)),
        domain=f"{plan.spec.cluster}.{plan.spec.domain}",
        budget=site.budget,
        budget_email=site.budget_email,
        ssh_from=tuple(site.ssh_from),
        tags={**site.tags, "clusterwright:cluster": plan.spec.cluster},
    )


def _site(plan: ClusterPlan, name: str) -> AwsSite:
    site = plan.spec.sites.get(name) or plan.spec.site
    assert isinstance(site, AwsSite)
    return site


def _group(plan: ClusterPlan, types: Mapping[str, MachineType], name: str) -> PlacementGroup | None:
    pool = plan.spec.pools[name]
    kind = types[pool.machine]
    match pool.placement:
        case None:
            together = (
                "compute" in pool.roles and kind.fabric_gbps is not None and "cluster" in kind.placement
            )
            reserved = (pool.capacity or Capacity()).model in NO_GROUP
            return PlacementGroup(name, "cluster") if together and not reserved else None
        case "none":
            return None
        case strategy:
            return PlacementGroup(name, strategy, PARTITIONS if strategy == "partition" else None)


def _machines(
    plan: ClusterPlan, types: Mapping[str, MachineType], groups: Mapping[str, PlacementGroup]
) -> Iterator[Machine]:
    dedicated = any("controller" not in node.roles for node in plan.with_role("storage"))
    for node in plan.nodes:
        pool = plan.spec.pools[node.pool]
        kind = types[node.machine]
        capacity = pool.capacity or Capacity()
        yield Machine(
            name=node.name,
            pool=node.pool,
            roles=node.roles,
            kind=node.machine,
            address=node.address,
            image=_image(plan, node, pool, kind),
            disk_gib=_disk(pool, kind),
            interfaces=interface_plan(kind, fabric="compute" in node.roles).interfaces,
            placement=groups[node.pool].name if node.pool in groups else None,
            capacity=capacity.model,
            reservation=capacity.reservation,
            kept=kept(plan.spec, node.roles, dedicated),
        )


def _image(plan: ClusterPlan, node: PlannedNode, pool: Pool, kind: MachineType) -> str:
    found = pool.image or image(plan.spec.software.distribution, "aws", kind.hardware.architecture)
    assert found is not None, node.name
    return found


def _disk(pool: Pool, kind: MachineType) -> int:
    if pool.disk is not None:
        return -(-pool.disk // _GIB)
    return _GPU_DISK_GIB if kind.hardware.gpus else _DISK_GIB
