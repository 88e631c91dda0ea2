"""AWS, asked with the account's own credentials: images, networks and a trial of each launch"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from clusterwright.checks.live.answer import known
from clusterwright.checks.live.aws_seen import AwsSeen, Image
from clusterwright.checks.live.rule import live_rule
from clusterwright.checks.live.subject import Subject
from clusterwright.checks.rule import Problem
from clusterwright.finding import Severity
from clusterwright.plan.aws import AwsPlan, Machine

Aws = Subject[AwsPlan]


def _firsts(subject: Aws) -> Iterator[tuple[str, Machine]]:
    """A machine of each pool; the others are like it."""
    seen: set[str] = set()
    for machine in subject.cloud.machines:
        if machine.pool not in seen:
            seen.add(machine.pool)
            yield machine.pool, machine


def _image_field(subject: Aws, pool: str) -> str:
    return f"pools.{pool}.image" if subject.planned.spec.pools[pool].image else f"pools.{pool}.machine"


@live_rule(
    "CW1411",
    "An image that is not there",
    needs=("images",),
    source="AWS Systems Manager GetParameter and Amazon EC2 DescribeImages",
    example="pools: {gpu: {image: ami-0123456789abcdef0}} of another region",
)
def image_not_there(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """There is nothing to boot the machines from. AMIs are of one region, and shared or not."""
    for pool, machine in _firsts(subject):
        path, found = _image_field(subject, pool), known(seen.images.get(machine.image))
        if isinstance(found, str):
            what = f"there is no image '{machine.image}' in {subject.cloud.region}: {found}"
            yield Problem(path, what, "Name an image of this region that this account may use")
        elif isinstance(found, Image) and found.state != "available":
            yield Problem(path, f"the image {found.ami} is {found.state}", "Wait for it, or name another")


@live_rule(
    "CW1412",
    "An image that these machines do not boot",
    needs=("images",),
    source="Amazon EC2 DescribeImages: architecture, platform, root device",
    example="pools: {gpu: {machine: p6e-gb200.36xlarge, image: ami-…}} of x86_64",
)
def image_does_not_fit(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """EC2 refuses the launch, or the machine boots into something that is no cluster node."""
    for pool, machine in _firsts(subject):
        path, found = _image_field(subject, pool), known(seen.images.get(machine.image))
        if not isinstance(found, Image):
            continue
        wanted = subject.planned.hardware[machine.kind].architecture
        if found.architecture != wanted:
            what = f"{found.ami} is of {found.architecture}, and '{machine.kind}' is of {wanted}"
            yield Problem(path, what, f"Name an image of {wanted}")
        elif found.windows:
            yield Problem(path, f"{found.ami} is an image of Windows", "Name one of a distribution")
        elif found.root_gib > machine.disk_gib:
            what = f"{found.ami} needs a disk of {found.root_gib} GiB, and {machine.disk_gib} are asked for"
            yield Problem(f"pools.{pool}.disk", what, f"Write `disk: {found.root_gib} GiB` or more")


@live_rule(
    "CW1413",
    "An image that its maker has given up",
    needs=("images",),
    source="Amazon EC2 User Guide, deprecate an AMI",
    example="an AMI whose deprecation time has passed",
    severity=Severity.WARNING,
)
def image_deprecated(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """It still boots, and nobody mends it any more."""
    for pool, machine in _firsts(subject):
        found = known(seen.images.get(machine.image))
        if isinstance(found, Image) and found.deprecated is not None and found.deprecated < seen.at:
            what = f"{found.ami} is deprecated since {found.deprecated.date()}"
            yield Problem(_image_field(subject, pool), what, "Take a newer one")


@live_rule(
    "CW1414",
    "A network of one's own without names",
    needs=("dns",),
    source="Amazon VPC User Guide, DNS attributes; private hosted zones need both",
    example="a VPC with enableDnsHostnames off",
)
def network_without_names(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """Nodes and file systems are known by names of a private zone, which such a network does not resolve."""
    dns = known(seen.dns)
    if dns is not None and not (dns.support and dns.hostnames):
        off = [name for name, on in (("support", dns.support), ("hostnames", dns.hostnames)) if not on]
        what = f"the VPC has DNS {' and DNS '.join(off)} switched off"
        yield Problem(subject.site_field("vpc.id"), what, "Switch both on for the VPC")


@live_rule(
    "CW1415",
    "A subnet that is not there, or elsewhere",
    needs=("subnets",),
    source="Amazon EC2 DescribeSubnets",
    example="vpc: {nodes: subnet-…} in us-east-2b for a site in us-east-2a",
)
def subnet_elsewhere(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """A fabric never crosses zones, and a machine has all its interfaces in one."""
    vpc, subnets = subject.cloud.vpc, known(seen.subnets) or {}
    if vpc is None:
        return
    for key, name in (("nodes", vpc.nodes), ("services", vpc.services), ("public", vpc.public)):
        row, path = subnets.get(name or ""), subject.site_field(f"vpc.{key}")
        if name and row is None:
            yield Problem(path, f"there is no subnet {name} that this account sees", "Name one of the VPC")
        elif row is not None and row.vpc != vpc.id:
            yield Problem(path, f"{name} is of {row.vpc}, not of {vpc.id}", "Name a subnet of the VPC")
        elif row is not None and row.zone != subject.cloud.zone:
            what = f"{name} is in {row.zone}, and the site in {subject.cloud.zone}"
            yield Problem(path, what, "Name a subnet of the zone")


@live_rule(
    "CW1416",
    "Addresses that are not free",
    needs=("subnets", "taken"),
    source="Amazon EC2 DescribeSubnets and DescribeNetworkInterfaces",
    example="site: {network: 10.90.16.0/22, vpc: {nodes: …}} where something else has 10.90.16.11",
)
def addresses_not_free(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """Nodes have planned addresses: the launch of one whose address is taken fails, and only of that one."""
    vpc, taken, path = subject.cloud.vpc, known(seen.taken) or {}, subject.site_field("network")
    row = (known(seen.subnets) or {}).get(vpc.nodes) if vpc else None
    if vpc is None or row is None:
        return
    if not IPv4Network(subject.cloud.network).subnet_of(IPv4Network(row.cidr)):
        what = f"{subject.cloud.network} is not in {vpc.nodes}, which is {row.cidr}"
        yield Problem(path, what, "Write the part of the subnet that is free for nodes")
        return
    there = {one.node for one in known(seen.instances) or () if one.node}
    for machine in subject.cloud.machines:
        if machine.address in taken and machine.name not in there:
            what = f"{machine.address}, planned for {machine.name}, is taken by {taken[machine.address]}"
            yield Problem(path, what, "Give nodes another part of the subnet")
    missing = sum(machine.name not in there for machine in subject.cloud.machines)
    if missing > row.free:
        what = f"{missing} nodes are to be made, and {vpc.nodes} has {row.free} free addresses"
        yield Problem(subject.site_field("vpc.nodes"), what, "Name a larger subnet")


@live_rule(
    "CW1572",
    "A group that would take others' addresses",
    needs=("subnets",),
    source="Amazon VPC User Guide, subnet CIDR reservations: a group takes any address that is not reserved",
    example="pools: {gpu: {group: true}}, and `network` is 10.90.16.0/22 of 10.90.0.0/16",
)
def group_beside_others(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """AWS picks the addresses of a group's machines, in the whole subnet."""
    vpc, plan = subject.cloud.vpc, subject.cloud
    row = (known(seen.subnets) or {}).get(vpc.nodes) if vpc else None
    if vpc is not None and row is not None and plan.groups and row.cidr != plan.network:
        what = f"{vpc.nodes} is {row.cidr}, and the cluster has {plan.network} of it"
        remedy = "Give the cluster a subnet of its own, with `network` its whole range, or remove `group`"
        yield Problem(subject.site_field("vpc.nodes"), what, remedy)


@live_rule(
    "CW1417",
    "A network of one's own without a way out",
    needs=("subnets",),
    source="Amazon VPC User Guide, route tables and gateway endpoints",
    example="a private subnet without a route for 0.0.0.0/0, or whose table lacks the endpoint for S3",
)
def no_way_out(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """Nodes fetch packages through the way out, and their bundle through the gateway endpoint for S3."""
    vpc = subject.cloud.vpc
    row = (known(seen.subnets) or {}).get(vpc.nodes) if vpc else None
    if vpc is None or row is None:
        return
    if not row.default_route:
        what = f"the route table of {vpc.nodes} has no route for 0.0.0.0/0"
        yield Problem(subject.site_field("vpc.nodes"), what, "Add one to a NAT gateway or a transit gateway")
    elif row.default_route.startswith("igw-"):
        what = f"{vpc.nodes} goes out through an internet gateway, and nodes have no public address"
        yield Problem(subject.site_field("vpc.nodes"), what, "Name a subnet behind a NAT gateway")
    if vpc.s3_endpoint not in row.endpoints:
        what = f"{vpc.s3_endpoint} is not in the route table of {vpc.nodes}"
        yield Problem(
            subject.site_field("vpc.s3_endpoint"), what, "Associate the endpoint with that route table"
        )


@live_rule(
    "CW1418",
    "EC2 refuses the launch",
    needs=("launches",),
    source="Amazon EC2 RunInstances with DryRun, and the machine's own launch parameters",
    example="a network card count that the type does not take: InvalidParameterCombination",
)
def launch_refused(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """EC2 was asked for a machine of every pool as the program asks, without making it. It looks at the
    parameters together; it does not look for room, nor count how many are asked for."""
    for pool, _ in _firsts(subject):
        launch = known((seen.launches or {}).get(pool))
        if launch is not None and not launch.accepted:
            what = f"EC2 would refuse a machine of the pool '{pool}': {launch.code}: {launch.words}"
            remedy = "Change what EC2 names, or tell the project: docs/aws.md has what is asked for"
            yield Problem(f"pools.{pool}.machine", what, remedy)
