"""From a plan to what Google Cloud is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterwright.catalog.cloud import boot_disk
from clusterwright.catalog.images import image
from clusterwright.catalog.machine_catalog import MachineCatalog, MachineType
from clusterwright.catalog.machines import catalog as shipped
from clusterwright.plan.boot_disk import boot_gib
from clusterwright.plan.gcp.model import LABEL, Budget, GcpPlan, Machine, PlacementPolicy
from clusterwright.plan.gcp.network import interface_plans, services_network, vpcs
from clusterwright.plan.gcp.placement import groups, policies
from clusterwright.plan.gcp.scheduling import scheduling
from clusterwright.plan.images import gcp_reference, is_built
from clusterwright.plan.kept import kept
from clusterwright.plan.model import ClusterPlan, PlannedNode
from clusterwright.plan.outline import Outline
from clusterwright.spec.buckets import Gcs
from clusterwright.spec.google_storage import Filestore, ManagedLustre
from clusterwright.spec.pool import Pool
from clusterwright.spec.site import GcpSite


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
        buckets=_buckets(plan),
        budget=_budget(site),
        kms_key=site.kms_key,
        snapshot_days=site.snapshot_days,
        ssh_from=tuple(site.ssh_from),
        os_login=site.os_login,
        labels={**site.labels, LABEL: plan.spec.cluster},
    )


def _budget(site: GcpSite) -> Budget | None:
    if site.budget is None or site.budget_email is None or site.billing_account is None:
        return None
    return Budget(site.billing_account, site.budget, site.budget_email)


def _buckets(plan: ClusterPlan) -> Mapping[str, bool]:
    found: dict[str, bool] = {}
    for _, share in sorted(plan.spec.storage.shares.items()):
        if isinstance(share, Gcs):
            found[share.bucket] = share.writable or found.get(share.bucket, False)
    return found


def _placed(outline: Outline) -> Mapping[str, PlacementPolicy]:
    found: dict[str, PlacementPolicy] = {}
    for name, pool in outline.spec.pools.items():
        if (kind := outline.types[name]) is not None:
            found |= policies(name, pool, kind, outline.names[name] or ())
    return found


def _grouped(outline: Outline) -> Mapping[str, str]:
    """Group of each node that one keeps."""
    return {
        node: group
        for name, pool in outline.spec.pools.items()
        if (kind := outline.types[name]) is not None
        for group, nodes in groups(name, pool, kind, outline.names[name] or ()).items()
        for node in nodes
    }


def _machines(
    plan: ClusterPlan, outline: Outline, site_name: str, site: GcpSite, placed: Mapping[str, PlacementPolicy]
) -> Iterator[Machine]:
    interfaces, grouped = interface_plans(outline, site_name), _grouped(outline)
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
            image=_image(plan, node, pool, kind, site.project),
            disk=boot_disk("gcp", node.machine) or "",
            disk_gib=boot_gib(pool, kind),
            interfaces=interfaces[node.pool].interfaces,
            policy=placed[node.name].name if node.name in placed else None,
            scheduling=scheduling(kind, pool.capacity),
            public=bool(site.ssh_from) and door in node.roles,
            shielded=kind.hardware.architecture == "x86_64" and not node.machine.endswith("-metal"),
            kept=kept(plan.spec, node.roles, dedicated, pool.kept_from),
            group=grouped.get(node.name),
        )


def _image(plan: ClusterPlan, node: PlannedNode, pool: Pool, kind: MachineType, project: str) -> str:
    if is_built(pool):
        return gcp_reference(project, plan.images[node.name])
    found = pool.image or image(plan.spec.software.distribution, "gcp", kind.hardware.architecture)
    assert found is not None, kind.name
    return found
