"""From a plan to what Google Cloud is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterwright.catalog.cloud import GIB, boot_disk
from clusterwright.catalog.images import image
from clusterwright.catalog.machine_catalog import MachineCatalog, MachineType
from clusterwright.catalog.machines import catalog as shipped
from clusterwright.plan.gcp.model import GcpPlan, Machine, PlacementPolicy
from clusterwright.plan.gcp.network import interface_plans, services_network, vpcs
from clusterwright.plan.gcp.placement import policies
from clusterwright.plan.gcp.scheduling import scheduling
from clusterwright.plan.kept import kept
from clusterwright.plan.model import ClusterPlan
from clusterwright.plan.outline import Outline
from clusterwright.spec.google_storage import Filestore, ManagedLustre
from clusterwright.spec.pool import Pool
from clusterwright.spec.site import GcpSite

_DISK_GIB, _GPU_DISK_GIB = 100, 200


def gcp_plan(plan: ClusterPlan, *, catalog: MachineCatalog | None = None) -> GcpPlan:
    """Of a cluster whose only site is on Google Cloud, and that passed its checks."""
    outline = Outline(plan.spec, {}, catalog or shipped())
    ((name, site),) = outline.sites.items()
    assert isinstance(site, GcpSite)
    placed = _placed(outline)
    shares = {
        mount: share
        for mount, share in sorted(plan.spec.storage.shares.items())
        if isinstance(share, Filestore | ManagedLustre)
    }
    return GcpPlan(
        cluster=plan.spec.cluster,
        domain=plan.spec.domain,
        project=site.project,
        region=site.region,
        zone=site.zone,
        network=outline.network_text(name),
        vpcs=vpcs(outline, name),
        existing=site.vpc,
        services=str(services_network(outline, name)) if shares else None,
        machines=tuple(_machines(plan, outline, name, site, placed)),
        policies=tuple({policy.name: policy for policy in placed.values()}.values()),
        shares=shares,
        ssh_from=tuple(site.ssh_from),
        os_login=site.os_login,
        labels={**site.labels, "clusterwright-cluster": plan.spec.cluster},
    )


def _placed(outline: Outline) -> Mapping[str, PlacementPolicy]:
    found: dict[str, PlacementPolicy] = {}
    for name, pool in outline.spec.pools.items():
        if (kind := outline.types[name]) is not None:
            found |= policies(name, pool, kind, outline.names[name] or ())
    return found


def _machines(
    plan: ClusterPlan, outline: Outline, site_name: str, site: GcpSite, placed: Mapping[str, PlacementPolicy]
) -> Iterator[Machine]:
    interfaces = interface_plans(outline, site_name)
    door = "login" if plan.with_role("login") else "controller"
    dedicated = any("controller" not in node.roles for node in plan.with_role("storage"))
    for node in plan.nodes:
        pool, kind = plan.spec.pools[node.pool], outline.types[node.pool]
        assert kind is not None
        yield Machine(
            name=node.name,
            pool=node.pool,
            roles=node.roles,
            kind=node.machine,
            address=node.address,
            image=_image(plan, pool, kind),
            disk=boot_disk("gcp", node.machine) or "",
            disk_gib=_disk(pool, kind),
            interfaces=interfaces[node.pool].interfaces,
            policy=placed[node.name].name if node.name in placed else None,
            scheduling=scheduling(kind, pool.capacity),
            public=bool(site.ssh_from) and door in node.roles,
            shielded=kind.hardware.architecture == "x86_64" and not node.machine.endswith("-metal"),
            kept=kept(plan.spec, node.roles, dedicated),
        )


def _image(plan: ClusterPlan, pool: Pool, kind: MachineType) -> str:
    found = pool.image or image(plan.spec.software.distribution, "gcp", kind.hardware.architecture)
    assert found is not None, kind.name
    return found


def _disk(pool: Pool, kind: MachineType) -> int:
    if pool.disk is not None:
        return -(-pool.disk // GIB)
    return _GPU_DISK_GIB if kind.hardware.gpus else _DISK_GIB
