"""What a cluster takes of quotas, and at which field of the description that is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from clusterwright.catalog.quotas import Quota, quotas
from clusterwright.checks.live.subject import Subject
from clusterwright.plan.aws import AwsPlan
from clusterwright.plan.gcp.model import GcpPlan

_GIB_A_TIB = 1024


@dataclass(frozen=True, slots=True)
class Demand:
    """What is taken of one quota when everything is made."""

    quota: Quota
    amount: float
    path: str


def aws_demands(subject: Subject[AwsPlan]) -> tuple[Demand, ...]:
    """Of every quota that the cluster takes something of."""
    other = _aws_amounts(subject)
    return tuple(
        demand
        for quota in quotas("aws")
        for demand in (
            [_of_machines(subject, quota, subject.cpus)] if quota.machines else [_of(quota, other)]
        )
        if demand
    )


def _of_machines(
    subject: Subject[AwsPlan] | Subject[GcpPlan], quota: Quota, counted: Callable[[str], int]
) -> Demand | None:
    """Shown at the pool that takes the most."""
    by_pool: dict[str, int] = {}
    for machine in subject.cloud.machines:
        if quota.is_of(machine.kind, subject.capacity(machine.pool)):
            by_pool[machine.pool] = by_pool.get(machine.pool, 0) + counted(machine.kind)
    if not sum(by_pool.values()):
        return None
    largest = max(by_pool, key=lambda pool: by_pool[pool])
    return Demand(quota, sum(by_pool.values()), f"pools.{largest}.machine")


def _of(quota: Quota, amounts: Mapping[str, tuple[float, str]]) -> Demand | None:
    amount, path = amounts.get(quota.counts, (0, ""))
    return Demand(quota, amount, path) if amount else None


def _aws_amounts(subject: Subject[AwsPlan]) -> Mapping[str, tuple[float, str]]:
    """By what is counted: how much, and where it is asked for."""
    plan, field = subject.cloud, subject.site_field
    interfaces = sum(len(machine.interfaces) for machine in plan.machines)
    gib = sum(machine.disk_gib + (machine.kept.gib if machine.kept else 0) for machine in plan.machines)
    found: dict[str, tuple[float, str]] = {
        "interfaces": (interfaces + len(plan.endpoints), field("region")),
        "gp3-tib": (gib / _GIB_A_TIB, field("region")),
    }
    if plan.vpc is None:
        way_out = ("addresses", "nat-gateways") if plan.nat else ()
        found |= {what: (1, field("region")) for what in ("vpcs", *way_out)}
    for counts, amount, path in _of_file_systems(plan):
        found[counts] = (found.get(counts, (0, ""))[0] + amount, path)
    return found


def _of_file_systems(plan: AwsPlan) -> Iterator[tuple[str, float, str]]:
    for made in plan.file_systems:
        path = f"storage.shares.{made.mount}"
        match made.kind:
            case "efs":
                yield "efs", 1, f"{path}.kind"
            case "fsx-lustre":
                tier = "persistent-2" if made.lasts else "scratch"
                yield f"lustre-{tier}-gib", made.gib or 0, f"{path}.size"
            case _:
                yield "openzfs-gib", made.gib or 0, f"{path}.size"
                yield "openzfs-mb-per-s", made.throughput or 0, f"{path}.throughput"


def gcp_demands(subject: Subject[GcpPlan]) -> tuple[Demand, ...]:
    """Of every quota that the cluster takes something of."""
    counted: Mapping[str, Callable[[str], int]] = {
        "vcpus": subject.cpus,
        "gpus": lambda machine: len(subject.planned.hardware[machine].gpus),
    }
    other = _gcp_amounts(subject)
    return tuple(
        demand
        for quota in quotas("gcp")
        for demand in (
            [_of_machines(subject, quota, counted[quota.counts])] if quota.machines else [_of(quota, other)]
        )
        if demand
    )


def _gcp_amounts(subject: Subject[GcpPlan]) -> Mapping[str, tuple[float, str]]:
    plan, region = subject.cloud, subject.site_field("region")
    disks: dict[str, int] = {}
    for machine in plan.machines:
        kind = "pd-gb" if machine.disk.startswith("pd-") else f"{machine.disk}-gb"
        disks[kind] = disks.get(kind, 0) + machine.disk_gib + (machine.kept.gib if machine.kept else 0)
    public = sum(machine.public for machine in plan.machines)
    return {
        **{kind: (gib, region) for kind, gib in disks.items()},
        "public-addresses": (public, subject.site_field("ssh_from")),
        "networks": (len(plan.vpcs), region),
        "subnetworks": (sum(len(vpc.subnets) for vpc in plan.vpcs), region),
    }
