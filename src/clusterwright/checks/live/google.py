"""Google Cloud, asked with the asker's own credentials: project and capacity"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterwright.catalog.quotas import Quota
from clusterwright.checks.live.answer import known
from clusterwright.checks.live.demand import Demand, gcp_demands
from clusterwright.checks.live.gcp_seen import GcpSeen, Limit, Reservation
from clusterwright.checks.live.needs import permissions, services
from clusterwright.checks.live.rule import live_rule
from clusterwright.checks.live.subject import Subject
from clusterwright.checks.rule import Problem
from clusterwright.finding import Severity
from clusterwright.plan.gcp.model import GcpPlan, Machine

Google = Subject[GcpPlan]


def firsts(subject: Google) -> Iterator[tuple[str, Machine]]:
    """A machine of each pool; the others are like it."""
    seen: set[str] = set()
    for machine in subject.cloud.machines:
        if machine.pool not in seen:
            seen.add(machine.pool)
            yield machine.pool, machine


@live_rule(
    "CW1431",
    "A service that is not enabled",
    needs=("services",),
    source="Service Usage API, services.batchGet",
    example="a share of kind `filestore` in a project without file.googleapis.com",
)
def service_not_enabled(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """What the service makes is refused, after everything before it was made."""
    for service in services(subject.cloud):
        if service not in (known(seen.services) or ()):
            what = f"{service} is not enabled in {subject.cloud.project}"
            yield Problem(subject.site_field("project"), what, f"Run `gcloud services enable {service}`")


@live_rule(
    "CW1432",
    "A permission that making the cluster needs",
    needs=("permissions",),
    source="Resource Manager API, projects.testIamPermissions",
    example="credentials without compute.instances.create",
    severity=Severity.WARNING,
)
def permission_missing(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """Who asks now may not be who applies later; who applies needs all of them."""
    missing = [one for one in permissions(subject.cloud) if one not in (known(seen.permissions) or ())]
    if missing:
        what = f"these credentials may not do {', '.join(missing)}"
        yield Problem(subject.site_field("project"), what, "Let who runs `pulumi up` do them: docs/gcp.md")


@live_rule(
    "CW1433",
    "A zone that is not there, or down",
    needs=("zone",),
    source="Compute Engine API, zones.get",
    example="site: {provider: gcp, region: us-central1, zone: us-central1-q}",
)
def zone_down(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """No machine is made in it."""
    status = known(seen.zone)
    if status != "UP":
        told = f"is {status}" if status else "is none that this project sees"
        remedy = f"Take another zone of {subject.cloud.region}"
        yield Problem(subject.site_field("zone"), f"{subject.cloud.zone} {told}", remedy)


@live_rule(
    "CW1434",
    "A machine type that the zone does not have",
    needs=("machines",),
    source="Compute Engine API, machineTypes.get: GPUs of these types come with them",
    example="pools: {gpu: {machine: a4-highgpu-8g}} in us-central1-a",
)
def machine_not_in_zone(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """GPUs are in few zones, and new ones are shown to projects that were let in."""
    there = known(seen.machines) or {}
    for pool, machine in firsts(subject):
        if not there.get(machine.kind, True):
            what = f"{subject.cloud.project} is not offered '{machine.kind}' in {subject.cloud.zone}"
            yield Problem(f"pools.{pool}.machine", what, "Take another zone, or ask Google for access")


def _of_pools(subject: Google, seen: GcpSeen) -> Iterator[tuple[Demand, Mapping[str, Limit]]]:
    tables = {"region": seen.region_quotas, "project": seen.project_quotas, "family": seen.family_quotas}
    for demand in gcp_demands(subject):
        limits = known(tables[demand.quota.service])
        if limits is not None:
            yield demand, limits


@live_rule(
    "CW1435",
    "A quota that is too small",
    needs=("region_quotas", "project_quotas"),
    source="Compute Engine API, regions.get and projects.get; Cloud Quotas API, quotaInfos.get",
    example="16 × a3-megagpu-8g, 128 GPUs, where NVIDIA_H100_MEGA has 64",
)
def quota_too_small(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """Machines would come up until the quota is full, and be paid for while the rest is waited for.

    What is reserved takes nothing of it: its quota was taken when it was reserved."""
    for demand, limits in _of_pools(subject, seen):
        row = limits.get(demand.quota.code)
        more = demand.amount * _share_missing(subject, seen)
        if row is None or (row.usage or 0) + more <= row.limit:
            continue
        told = f"{max(row.limit - (row.usage or 0), 0):,.10g} of {row.limit:,.10g} are free"
        if row.usage is None:
            told = f"{row.limit:,.10g} is the whole quota"
        what = f"{demand.quota.name}: {more:,.10g} are needed, and {told}"
        remedy = (
            f"Ask Google for {(row.usage or 0) + more:,.10g} of {_name(demand.quota, subject.cloud.region)}"
        )
        yield Problem(demand.path, what, remedy)


@live_rule(
    "CW1436",
    "A quota of GPUs of which Google tells nothing",
    needs=("region_quotas", "family_quotas"),
    source="Cloud Quotas API: a family that no quota was granted of is not listed",
    example="a3-ultragpu-8g with flex-start in a project that never had H200",
    severity=Severity.WARNING,
)
def quota_not_told(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """Mostly it is zero, and the first machine is refused."""
    for demand, limits in _of_pools(subject, seen):
        if demand.quota.counts == "gpus" and demand.quota.code not in limits:
            what = f"Google lists no quota {_name(demand.quota, subject.cloud.region)} for this project"
            yield Problem(demand.path, what, f"Ask Google for {demand.amount:,.10g} of it")


def _name(quota: Quota, region: str) -> str:
    if quota.service == "family":
        return f"GPUS-PER-GPU-FAMILY-per-project-region with gpu_family {quota.code} in {region}"
    return quota.code if quota.service == "project" else f"{quota.code} in {region}"


def _share_missing(subject: Google, seen: GcpSeen) -> float:
    """0 where every node is there: what is used is the cluster's own. Else all of it is asked for."""
    there = set(known(seen.nodes) or ())
    return 0.0 if all(machine.name in there for machine in subject.cloud.machines) else 1.0


def _reserved(subject: Google, seen: GcpSeen) -> Iterator[tuple[str, Machine, str, Reservation | None]]:
    reservations = known(seen.reservations) or {}
    for pool, machine in firsts(subject):
        if name := machine.scheduling.reservation:
            yield pool, machine, name, reservations.get(name)


@live_rule(
    "CW1437",
    "A reservation that is not there, or not usable",
    needs=("reservations",),
    source="Compute Engine API, reservations.get and reservationBlocks.get",
    example="capacity: {model: dense, reservation: h200-block} in another zone",
)
def reservation_not_usable(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """Every machine of the pool would be refused."""
    for pool, machine, name, row in _reserved(subject, seen):
        path = f"pools.{pool}.capacity.reservation"
        if row is None:
            what = f"there is no reservation {name} in {subject.cloud.zone} that this project sees"
            yield Problem(path, what, "Name one of the zone, as `projects/…` where another project shares it")
        elif row.status not in ("READY", "ACTIVE", "HEALTHY"):
            yield Problem(path, f"{name} is {row.status}", "Wait until it is ready, or name another")
        elif row.machine and row.machine != machine.kind:
            yield Problem(
                path, f"{name} is of '{row.machine}', not of '{machine.kind}'", "Name one that fits"
            )
        elif row.end is not None and row.end <= seen.at:
            yield Problem(path, f"{name} has ended", "Name another one")


@live_rule(
    "CW1438",
    "A reservation with too few machines",
    needs=("reservations",),
    source="Compute Engine API, reservations.get: count and inUseCount",
    example="16 nodes of a reservation of 8",
)
def reservation_too_small(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """The last nodes would never come, and jobs on all of them never start."""
    there, wanted = set(known(seen.nodes) or ()), dict[str, list[str]]()
    for pool, _, name, row in _reserved(subject, seen):
        if row is not None:
            wanted.setdefault(name, []).append(pool)
    for name, pools in wanted.items():
        row = (known(seen.reservations) or {})[name]
        missing = [node for pool in pools for node in subject.nodes[pool] if node not in there]
        if len(missing) > (free := row.total - row.used):
            what = f"{len(missing)} machines are to be made of {name}, which has {free} of {row.total} free"
            path = f"pools.{pools[0]}.capacity.reservation"
            yield Problem(path, what, f"Describe {free} nodes, or reserve more")


@live_rule(
    "CW1439",
    "A reservation that ends before the jobs",
    needs=("reservations",),
    source="Compute Engine API, reservations.get: deleteAtTime",
    example="a reservation that is deleted in two days, with jobs of seven",
    severity=Severity.WARNING,
)
def reservation_ends_early(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """A job that is started today and runs as long as it may is cut off."""
    for pool, _, name, row in _reserved(subject, seen):
        if row is None or row.end is None or row.end <= seen.at:
            continue
        left, longest = (row.end - seen.at).total_seconds(), subject.longest_job(pool)
        if longest is None or longest > left:
            jobs = "no limit" if longest is None else f"up to {longest / 3600:g} h"
            what = f"{name} lasts for {left / 3600:,.1f} h more, and jobs have {jobs}"
            remedy = f"Give the partition a `max_time` of {int(left / 3600)} h or less"
            yield Problem(f"pools.{pool}.capacity.reservation", what, remedy)
