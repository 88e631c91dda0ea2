"""A Google Cloud plan as a picture. Networks that differ only in their card are drawn as one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from clusterwright.plan.gcp.model import GcpPlan, Machine, Vpc
from clusterwright.plan.gcp.network import FIRST
from clusterwright.plan.picture import Machines, Net, Picture


def picture(plan: GcpPlan) -> Picture:
    """Of the whole cluster."""
    way_in = (
        f"SSH from {', '.join(plan.ssh_from)}" if plan.ssh_from else "people, through Identity-Aware Proxy"
    )
    out = () if plan.existing else ("Cloud NAT, to package repositories",)
    services = tuple(
        f"{mount}: {share.kind}, {share.size / 2**40:,.4g} TiB" for mount, share in plan.shares.items()
    )
    return Picture(
        networks=tuple(_nets(plan)),
        machines=tuple(_machines(plan)),
        ways_in=(way_in,),
        ways_out=out,
        services=("the store: a bucket", *services),
    )


def _nets(plan: GcpPlan) -> Iterator[Net]:
    if plan.existing:
        yield Net(FIRST, (f"your own: {plan.existing.name}", plan.network), False)
    cards = [vpc for vpc in plan.vpcs if vpc.kind == "gpu"]
    for vpc in plan.vpcs:
        if vpc not in cards:
            yield Net(vpc.name, (*_told(vpc), *vpc.subnets), vpc.carries_rdma)
    if cards:
        lines = (
            f"{len(cards)} VPCs, MTU {cards[0].mtu}",
            *(subnet for vpc in cards for subnet in vpc.subnets),
        )
        yield Net("gpu", lines, True)


def _told(vpc: Vpc) -> Iterator[str]:
    yield f"VPC, MTU {vpc.mtu}"
    if vpc.profile:
        yield vpc.profile.rpartition("/")[2]
    if not vpc.subnets:
        yield "the subnet is Google's, IPv6 only"


def _machines(plan: GcpPlan) -> Iterator[Machines]:
    for pool in dict.fromkeys(machine.pool for machine in plan.machines):
        members = [machine for machine in plan.machines if machine.pool == pool]
        groups = {machine.policy for machine in members} - {None}
        together = f"{len(groups)} placement polic{'y' if len(groups) == 1 else 'ies'}"
        lines = (
            f"{len(members)} × {members[0].kind}",
            ", ".join(members[0].roles),
            *([together] if groups else []),
        )
        yield Machines(pool, lines, _cards(members[0]))


def _cards(machine: Machine) -> tuple[tuple[str, int], ...]:
    names = (re.sub(r"^gpu-[0-9]+$", "gpu", interface.network) for interface in machine.interfaces)
    return tuple(Counter(names).items())
