"""Google Cloud, asked with the asker's own credentials: images and networks"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from clusterwright.checks.live.answer import known
from clusterwright.checks.live.gcp_seen import GcpSeen, Image, Subnet
from clusterwright.checks.live.google import Google, firsts
from clusterwright.checks.live.rule import live_rule
from clusterwright.checks.rule import Problem
from clusterwright.finding import Severity


@live_rule(
    "CW1440",
    "An image that is not there, or does not fit",
    needs=("images",),
    source="Compute Engine API, images.get and images.getFromFamily",
    example="pools: {gpu: {image: projects/example/global/images/none}}",
)
def image_unfit(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """There is nothing that the machines boot from."""
    for pool, machine in firsts(subject):
        chosen = subject.planned.spec.pools[pool].image
        path, found = (
            f"pools.{pool}.{'image' if chosen else 'machine'}",
            known(seen.images.get(machine.image)),
        )
        wanted = {"x86_64": "X86_64", "arm64": "ARM64"}[subject.planned.hardware[machine.kind].architecture]
        if isinstance(found, str):
            what = f"there is no image '{machine.image}': {found}"
            yield Problem(path, what, "Name an image or family that this project may use")
        elif not isinstance(found, Image):
            continue
        elif found.status != "READY" or found.deprecated in ("OBSOLETE", "DELETED"):
            what = f"the image {found.name} is {found.deprecated or found.status}"
            yield Problem(path, what, "Name another one")
        elif found.architecture not in ("", wanted):
            what = f"{found.name} is of {found.architecture}, and '{machine.kind}' is of {wanted}"
            yield Problem(path, what, f"Name an image of {wanted}")
        elif found.disk_gib > machine.disk_gib:
            what = f"{found.name} needs a disk of {found.disk_gib} GiB, and {machine.disk_gib} are asked for"
            yield Problem(f"pools.{pool}.disk", what, f"Write `disk: {found.disk_gib} GiB` or more")


@live_rule(
    "CW1441",
    "No RDMA network in the zone",
    needs=("profiles",),
    source="Compute Engine API, networkProfiles.get",
    example="a3-ultragpu-8g in a zone without ZONE-vpc-roce",
)
def no_network_profile(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """The VPC that the RDMA cards join is made with a profile of the zone, or not at all."""
    for name, there in (known(seen.profiles) or {}).items():
        if not there:
            what = f"{subject.cloud.zone} has no network profile {name}"
            yield Problem(subject.site_field("zone"), what, "Take a zone that has one")


@live_rule(
    "CW1442",
    "A subnet that is not there, or elsewhere",
    needs=("subnet",),
    source="Compute Engine API, subnetworks.get",
    example="vpc: {subnet: hpc} of another region, or without Private Google Access",
)
def subnet_unfit(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """Nodes have planned addresses in it, and reach their store through Private Google Access."""
    vpc, found, path = subject.cloud.existing, known(seen.subnet), subject.site_field("vpc.subnet")
    if vpc is None or found is None:
        return
    if isinstance(found, Subnet):
        yield from _misfits(subject, found, path)
    else:
        what = f"there is no subnet '{vpc.subnet}': {found}"
        yield Problem(path, what, "Name one in the region of the site")


def _misfits(subject: Google, found: Subnet, path: str) -> Iterator[Problem]:
    plan = subject.cloud
    if found.region != plan.region:
        what = f"the subnet is in {found.region}, and the site in {plan.region}"
        yield Problem(path, what, "Name a subnet of the region")
    if plan.existing and found.network.rpartition("/")[2] != plan.existing.name.rpartition("/")[2]:
        what = f"the subnet is of {found.network}, not of {plan.existing.name}"
        yield Problem(path, what, "Name a subnet of the network")
    if not IPv4Network(plan.network).subnet_of(IPv4Network(found.cidr)):
        what = f"{plan.network} is not in the subnet, which is {found.cidr}"
        yield Problem(subject.site_field("network"), what, "Write the range of the subnet")
    if not found.private_google_access:
        yield Problem(path, "the subnet has no Private Google Access", "Switch it on for the subnet")


@live_rule(
    "CW1443",
    "A network of one's own that nodes cannot use",
    needs=("mtu", "nat"),
    source="Compute Engine API, networks.get and routers.list; the catalog's packet sizes",
    example="a VPC of 1460 for a3-megagpu-8g, which wants 8244",
    severity=Severity.WARNING,
)
def network_unfit(subject: Google, seen: GcpSeen) -> Iterator[Problem]:
    """Small packets slow the first card down; without Cloud NAT no node reaches package repositories."""
    vpc, mtu = subject.cloud.existing, known(seen.mtu)
    if vpc is None:
        return
    path = subject.site_field("vpc.name")
    wanted = max((one.mtu for one in subject.cloud.vpcs if one.kind in ("host", "gpu")), default=0)
    if mtu == 0:
        yield Problem(
            path, f"there is no network '{vpc.name}' that this project sees", "Name one that exists"
        )
    elif mtu is not None and mtu < wanted:
        what = f"the network's packets are {mtu} bytes, and its machines' cards want {wanted}"
        yield Problem(path, what, f"Set the network's MTU to {wanted}")
    if known(seen.nat) is False:
        what = f"the network has no Cloud NAT in {subject.cloud.region}"
        yield Problem(path, what, "Add one, or another way out for nodes without a public address")
