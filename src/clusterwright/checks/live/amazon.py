"""AWS, asked with the account's own credentials: capacity"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterwright.catalog.machines import machines
from clusterwright.checks.live.answer import known
from clusterwright.checks.live.aws_seen import AwsSeen, Instance
from clusterwright.checks.live.demand import Demand, aws_demands
from clusterwright.checks.live.rule import live_rule
from clusterwright.checks.live.subject import Subject
from clusterwright.checks.rule import Problem
from clusterwright.plan.aws import AwsPlan, Machine

Aws = Subject[AwsPlan]


@live_rule(
    "CW1401",
    "A zone that the account cannot use",
    needs=("zones",),
    source="Amazon EC2 DescribeAvailabilityZones",
    example="site: {provider: aws, region: us-west-2, zone: us-west-2-lax-1a}, not opted in",
)
def zone_not_usable(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """Zones differ between accounts, and some must be opted into first: every machine would be refused."""
    zones, name = known(seen.zones) or {}, subject.cloud.zone
    path = subject.site_field("zone")
    if name not in zones:
        usable = [one for one, zone in sorted(zones.items()) if zone.opted_in]
        yield Problem(path, f"this account has no zone {name}", f"It has: {', '.join(usable)}")
    elif not zones[name].opted_in:
        yield Problem(path, f"this account is not opted into {name}", "Opt in to the zone, or take another")
    elif zones[name].state != "available":
        yield Problem(path, f"{name} is {zones[name].state}", "Wait until it is available, or take another")


@live_rule(
    "CW1402",
    "A machine type that this account is not offered in the zone",
    needs=("offered",),
    source="Amazon EC2 DescribeInstanceTypeOfferings",
    example="site: {provider: aws, zone: us-east-2c}, where p5.48xlarge is in us-east-2a and us-east-2b",
)
def not_offered(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """The catalog's list has a date and other names of zones; this one is the account's own."""
    offered, zone = known(seen.offered) or {}, subject.cloud.zone
    for pool, nodes in subject.nodes.items():
        kind = machine_of(subject, nodes[0]).kind
        zones = offered.get(kind, ())
        if zone not in zones:
            there = f"In {subject.cloud.region} it is in: {', '.join(zones)}"
            remedy = there if zones else f"Take another region: no zone of {subject.cloud.region} has it"
            yield Problem(f"pools.{pool}.machine", f"'{kind}' is not offered in {zone}", remedy)


@live_rule(
    "CW1403",
    "A quota of processors that is too small",
    needs=("quotas", "instances", "unused"),
    source="Amazon EC2 User Guide, On-Demand and Spot Instance quotas: in vCPUs, for each group of families",
    example="4 × p5.48xlarge on demand, 768 vCPUs, where the quota of P instances is 384",
)
def too_few_processors(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """Machines would come up until the quota is full, and be paid for while the rest is waited for.

    What is to come from a reservation or a Capacity Block takes nothing more of it; what runs, and what is
    reserved and does not run, is counted."""
    others = [one for one in known(seen.instances) or () if not _is_ours(subject, one)]
    unused = known(seen.unused) or {}
    for demand in aws_demands(subject):
        if demand.quota.counts == "vcpus":
            used = sum(_takes(demand, one) for one in [*others, *_idle(unused)])
            yield from _too_small(demand, used, known(seen.quotas) or {}, "vCPUs")


@live_rule(
    "CW1404",
    "A quota of networks, disks or file systems that is too small",
    needs=("quotas", "usage"),
    source="Service Quotas of Amazon EC2, VPC, EBS, FSx and EFS",
    example="a VPC of its own, where the account has five of five",
)
def too_little_of_the_rest(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """A machine with 32 network cards takes 33 interfaces of the region's 5,000: quotas of small things are
    met by large clusters."""
    for demand in aws_demands(subject):
        usage = known(seen.usage.get(demand.quota.counts))
        if usage is not None:
            used = usage.total - usage.ours
            yield from _too_small(demand, used, known(seen.quotas) or {}, "")


def _too_small(demand: Demand, used: float, limits: Mapping[str, float], unit: str) -> Iterator[Problem]:
    limit = limits.get(demand.quota.code)
    if limit is not None and used + demand.amount > limit:
        words = f" {unit}" if unit else ""
        what = (
            f"{demand.quota.name}: {demand.amount:,.10g}{words} are needed, "
            f"and {max(limit - used, 0):,.10g} of {limit:,.10g} are free"
        )
        code = f"{demand.quota.service}/{demand.quota.code}"
        remedy = f"Ask Service Quotas for {used + demand.amount:,.10g} of {code}"
        yield Problem(demand.path, what, remedy)


def _takes(demand: Demand, one: Instance) -> int:
    return one.vcpus if demand.quota.is_of(one.machine, one.capacity) else 0


def _idle(unused: Mapping[str, int]) -> Iterator[Instance]:
    """Reserved machines that do not run, of types whose processors the catalog knows."""
    for kind, count in unused.items():
        if (row := machines().get(kind)) is not None:
            yield Instance(kind, "on-demand", row.cpus * count)


def _is_ours(subject: Aws, one: Instance) -> bool:
    """A machine of the plan that is there already: it is not made again."""
    return bool(one.node) and any(one.node in nodes for nodes in subject.nodes.values())


def machine_of(subject: Aws, node: str) -> Machine:
    return next(machine for machine in subject.cloud.machines if machine.name == node)
