"""From a plan to what AWS is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from clusterwright.catalog.images import image, root_device
from clusterwright.catalog.machine_catalog import MachineCatalog, MachineType
from clusterwright.catalog.machines import catalog as shipped
from clusterwright.plan.aws.identity import Identity, endpoints, identity
from clusterwright.plan.aws.join import join
from clusterwright.plan.aws.model import AwsPlan, Machine, PlacementGroup
from clusterwright.plan.aws.storage import file_systems
from clusterwright.plan.boot_disk import boot_gib
from clusterwright.plan.images import aws_reference, is_built
from clusterwright.plan.interfaces import interface_plan
from clusterwright.plan.kept import kept
from clusterwright.plan.model import ClusterPlan, PlannedNode, PlannedSite
from clusterwright.plan.slots import parts
from clusterwright.plan.subnets import node_network, split
from clusterwright.spec.capacity import Capacity
from clusterwright.spec.pool import Pool
from clusterwright.spec.site import AwsSite

_GIB = 2**30
NO_GROUP = {"reservation", "capacity-block"}
"""A Capacity Block stands together by itself, and a reservation is in the group that it was made in: Amazon
EC2 User Guide, Capacity Blocks; cluster placement groups with Capacity Reservations."""
PARTITIONS = 7
"""The most of a group in one zone, and the most instances of a `spread` group there: Amazon EC2 User Guide,
placement groups."""


def aws_plan(plan: ClusterPlan, *, catalog: MachineCatalog | None = None) -> AwsPlan:
    """Of a cluster with one site on AWS, and that passed its checks: what other sites have is not in it."""
    whole, (planned, site) = plan, _here(plan)
    plan = whole.at(planned.name)
    types = (catalog or shipped()).types
    identities = {
        name: found
        for name, pool in plan.spec.pools.items()
        if (found := identity(plan.spec, site, pool.roles))
    }
    groups = {name: group for name in plan.spec.pools if (group := _group(plan, types, name))}
    return AwsPlan(
        cluster=plan.spec.cluster,
        region=site.region,
        zone=site.zone,
        network=planned.network,
        subnets=None if site.vpc else split(IPv4Network(planned.network)),
        vpc=site.vpc,
        machines=tuple(_machines(plan, types, groups, identities)),
        placement=tuple(groups.values()),
        file_systems=tuple(file_systems(plan.spec)),
        domain=f"{plan.spec.cluster}.{plan.spec.domain}",
        budget=site.budget,
        budget_email=site.budget_email,
        ssh_from=tuple(site.ssh_from),
        session_manager=site.session_manager,
        nat=site.nat,
        endpoints=endpoints(site),
        identities=tuple({one.name: one for one in identities.values()}.values()),
        permissions_boundary=site.permissions_boundary,
        set_aside=tuple(_set_aside(plan, site, planned)),
        root_device=root_device(plan.spec.software.distribution),
        kms_key=site.kms_key,
        snapshot_days=site.snapshot_days,
        join=join(whole, planned.name, site),
        tags={**site.tags, "clusterwright:cluster": plan.spec.cluster},
    )


def _here(plan: ClusterPlan) -> tuple[PlannedSite, AwsSite]:
    described = {one.name: plan.spec.sites.get(one.name) or plan.spec.site for one in plan.sites}
    ((planned, site),) = (
        (one, site) for one in plan.sites if isinstance(site := described[one.name], AwsSite)
    )
    return planned, site


def _set_aside(plan: ClusterPlan, site: AwsSite, planned: PlannedSite) -> Iterator[str]:
    """Every part of the nodes' subnet but those of groups, so that pools that are added move nothing."""
    pools = list(plan.spec.pools.values())
    if any(pool.group for pool in pools):
        for part, cidr in enumerate(parts(node_network(site, IPv4Network(planned.network)))):
            if part >= len(pools) or not pools[part].group:
                yield str(cidr)


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
    plan: ClusterPlan,
    types: Mapping[str, MachineType],
    groups: Mapping[str, PlacementGroup],
    identities: Mapping[str, Identity],
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
            address="" if pool.group else node.address,
            image=_image(plan, node, pool, kind),
            built=is_built(pool),
            disk_gib=boot_gib(pool, kind),
            interfaces=interface_plan(kind, fabric="compute" in node.roles).interfaces,
            placement=groups[node.pool].name if node.pool in groups else None,
            capacity=capacity.model,
            reservation=capacity.reservation,
            kept=kept(plan.spec, node.roles, dedicated, pool.kept_from),
            identity=identities[node.pool].name if node.pool in identities else None,
            grouped=pool.group,
        )


def _image(plan: ClusterPlan, node: PlannedNode, pool: Pool, kind: MachineType) -> str:
    if is_built(pool):
        return aws_reference(plan.images[node.name])
    found = pool.image or image(plan.spec.software.distribution, "aws", kind.hardware.architecture)
    assert found is not None, node.name
    return found
