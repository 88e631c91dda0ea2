"""What making a cluster on Google Cloud needs of the project: services, and permissions of who makes it."""

from __future__ import annotations

from clusterwright.plan.gcp.model import GcpPlan

_SERVICES = {"filestore": "file.googleapis.com", "managed-lustre": "lustre.googleapis.com"}
_PERMISSIONS = (
    "compute.disks.create",
    "compute.firewalls.create",
    "compute.instances.create",
    "compute.instances.setMetadata",
    "compute.instances.setServiceAccount",
    "compute.networks.create",
    "compute.routers.create",
    "compute.subnetworks.create",
    "compute.subnetworks.use",
    "iam.serviceAccounts.actAs",
    "iam.serviceAccounts.create",
    "resourcemanager.projects.setIamPolicy",
    "storage.buckets.create",
    "storage.objects.create",
)
_OF_SHARES = {
    "filestore": ("file.instances.create",),
    "managed-lustre": ("lustre.instances.create",),
}


def services(plan: GcpPlan) -> tuple[str, ...]:
    """Services whose resources the program makes."""
    kinds = sorted({share.kind for share in plan.shares.values()})
    of_shares = [_SERVICES[kind] for kind in kinds]
    network = ["servicenetworking.googleapis.com"] if kinds and plan.existing is None else []
    names = ["dns.googleapis.com"] if kinds else []
    base = ["compute.googleapis.com", "iam.googleapis.com", "storage.googleapis.com"]
    return tuple(sorted([*base, *of_shares, *network, *names]))


def permissions(plan: GcpPlan) -> tuple[str, ...]:
    """Of the project, one of each kind of resource; docs/gcp.md has the roles that hold them all."""
    kinds = {share.kind for share in plan.shares.values()}
    more = [one for kind in sorted(kinds) for one in _OF_SHARES[kind]]
    public = ["compute.addresses.create"] if any(machine.public for machine in plan.machines) else []
    placed = ["compute.resourcePolicies.create"] if plan.policies else []
    return tuple(sorted([*_PERMISSIONS, *more, *public, *placed]))
