"""What there is to get: zones, machine types, what runs, what is reserved, and quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from clusterwright.catalog.machines import machine
from clusterwright.checks.live.aws_seen import Instance, Reservation, Usage, Zone
from clusterwright.checks.live.demand import Demand
from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.aws.live.account import Account

_CLUSTER = "clusterwright:cluster"
_GIB_A_TIB = 1024


def zones(account: Account) -> Mapping[str, Zone]:
    """Every zone of the region, opted into or not."""
    rows = account.ask("ec2", "describe_availability_zones", AllAvailabilityZones=True)["AvailabilityZones"]
    return {row["ZoneName"]: Zone(row["State"], row.get("OptInStatus") != "not-opted-in") for row in rows}


def offered(account: Account, kinds: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Zones by machine type."""
    found: dict[str, list[str]] = {kind: [] for kind in sorted(set(kinds))}
    chosen = [{"Name": "instance-type", "Values": list(found)}]
    asked = {"LocationType": "availability-zone", "Filters": chosen}
    for row in account.list("ec2", "describe_instance_type_offerings", "InstanceTypeOfferings", **asked):
        found[row["InstanceType"]].append(row["Location"])
    return {kind: tuple(sorted(places)) for kind, places in found.items()}


def instances(account: Account, cluster: str, members: Mapping[str, Sequence[str]]) -> tuple[Instance, ...]:
    """What is pending or running in the region. `members`: names by pool; whose is whose matters not."""
    free = {pool: iter(names) for pool, names in members.items()}
    running = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    groups = account.list("ec2", "describe_instances", "Reservations", Filters=running)
    return tuple(_instance(row, cluster, free) for group in groups for row in group["Instances"])


def _instance(row: Mapping[str, Any], cluster: str, free: Mapping[str, Iterator[str]]) -> Instance:
    known, cpu = machine(row["InstanceType"]), row.get("CpuOptions", {})
    vcpus = known.cpus if known else cpu.get("CoreCount", 0) * cpu.get("ThreadsPerCore", 1)
    market = row.get("InstanceLifecycle", "on-demand")
    tags = _tags(row) if _is_of(row, cluster) else {}
    member = free.get(tags.get("clusterwright:pool", "")) if "aws:autoscaling:groupName" in tags else None
    name = next(member, "") if member else tags.get("Name", "")
    return Instance(row["InstanceType"], market, vcpus, name)


def reservations(account: Account) -> Mapping[str, Reservation]:
    """Every one that the account sees, by ID."""
    rows = account.list("ec2", "describe_capacity_reservations", "CapacityReservations")
    return {row["CapacityReservationId"]: _reservation(row) for row in rows}


def _reservation(row: Mapping[str, Any]) -> Reservation:
    return Reservation(
        machine=row["InstanceType"],
        zone=row["AvailabilityZone"],
        platform=row["InstancePlatform"],
        state=row["State"],
        total=row["TotalInstanceCount"],
        free=row["AvailableInstanceCount"],
        block=row.get("ReservationType") == "capacity-block",
        grouped=bool(row.get("PlacementGroupArn")),
        end=row.get("EndDate"),
    )


def unused(rows: Mapping[str, Reservation]) -> Mapping[str, int]:
    """Machines that are reserved and do not run, by type. Blocks are bought outside of the quotas."""
    found: Counter[str] = Counter()
    for row in rows.values():
        if row.state == "active" and not row.block and row.free:
            found[row.machine] += row.free
    return dict(sorted(found.items()))


def limit(account: Account, demand: Demand) -> float | None:
    """The account's own quota, else the one that every account begins with; None where there is neither."""
    asked = {"ServiceCode": demand.quota.service, "QuotaCode": demand.quota.code}
    for operation in ("get_service_quota", "get_aws_default_service_quota"):
        try:
            return float(account.ask("service-quotas", operation, **asked)["Quota"]["Value"])
        except NoAnswer as error:
            if account.code(error) != "NoSuchResourceException":
                raise
    return None


Counted = Callable[[Account, str, str], Usage]
"""Of an account; the cluster and the zone."""


def _usage(
    service: str, operation: str, key: str, size: Callable[[Mapping[str, Any]], float]
) -> tuple[str, str, Counted]:
    def count(account: Account, cluster: str, zone: str) -> Usage:
        rows = account.list(service, operation, key, **_chosen(operation))
        there = [row for row in rows if _is_there(operation, row, zone)]
        ours = sum(size(row) for row in there if _is_of(row, cluster))
        return Usage(float(sum(map(size, there))), float(ours))

    return service, operation, count


def _chosen(operation: str) -> Mapping[str, Any]:
    if operation == "describe_volumes":
        return {"Filters": [{"Name": "volume-type", "Values": ["gp3"]}]}
    if operation == "describe_nat_gateways":
        return {"Filter": [{"Name": "state", "Values": ["pending", "available"]}]}
    return {}


def _is_there(operation: str, row: Mapping[str, Any], zone: str) -> bool:
    """NAT gateways are counted by zone; where an answer does not tell the zone, each counts."""
    return operation != "describe_nat_gateways" or row.get("AvailabilityZone", zone) == zone


def _one(_: Mapping[str, Any]) -> float:
    return 1


def _of_lustre(*tiers: str) -> Callable[[Mapping[str, Any]], float]:
    def size(row: Mapping[str, Any]) -> float:
        tier = row.get("LustreConfiguration", {}).get("DeploymentType")
        return float(row.get("StorageCapacity", 0)) if tier in tiers else 0

    return size


def _of_zfs(row: Mapping[str, Any]) -> float:
    return float(row.get("StorageCapacity", 0)) if row.get("FileSystemType") == "OPENZFS" else 0


def _throughput(row: Mapping[str, Any]) -> float:
    return float(row.get("OpenZFSConfiguration", {}).get("ThroughputCapacity", 0))


_FSX = ("fsx", "describe_file_systems", "FileSystems")
USAGE: Mapping[str, tuple[str, str, Counted]] = {
    "vpcs": _usage("ec2", "describe_vpcs", "Vpcs", _one),
    "nat-gateways": _usage("ec2", "describe_nat_gateways", "NatGateways", _one),
    "interfaces": _usage("ec2", "describe_network_interfaces", "NetworkInterfaces", _one),
    "gp3-tib": _usage("ec2", "describe_volumes", "Volumes", lambda row: float(row["Size"]) / _GIB_A_TIB),
    "lustre-persistent-2-gib": _usage(*_FSX, _of_lustre("PERSISTENT_2")),
    "lustre-scratch-gib": _usage(*_FSX, _of_lustre("SCRATCH_1", "SCRATCH_2")),
    "openzfs-gib": _usage(*_FSX, _of_zfs),
    "openzfs-mb-per-s": _usage(*_FSX, _throughput),
    "efs": _usage("efs", "describe_file_systems", "FileSystems", _one),
}
"""By what a quota counts."""


def addresses(account: Account, cluster: str, _zone: str) -> Usage:
    """Elastic IPs, which come in one page."""
    rows = account.ask("ec2", "describe_addresses")["Addresses"]
    return Usage(float(len(rows)), float(sum(_is_of(row, cluster) for row in rows)))


def usage_of(counts: str) -> tuple[str, str, Counted]:
    """Service, operation and how to count."""
    return USAGE.get(counts) or ("ec2", "describe_addresses", addresses)


def _tags(row: Mapping[str, Any]) -> Mapping[str, str]:
    pairs: Iterator[tuple[str, str]] = (
        (tag["Key"], tag["Value"]) for key in ("Tags", "TagSet") for tag in row.get(key, ())
    )
    return dict(pairs)


def _is_of(row: Mapping[str, Any], cluster: str) -> bool:
    return _tags(row).get(_CLUSTER) == cluster
