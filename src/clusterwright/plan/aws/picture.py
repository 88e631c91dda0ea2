"""An AWS plan as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clusterwright.plan.aws.model import AwsPlan, Machine
from clusterwright.plan.aws.storage import FileSystem
from clusterwright.plan.picture import Machines, Net, Picture

_NODES, _FABRIC = "nodes", "efa"


def picture(plan: AwsPlan) -> Picture:
    """Of the whole cluster."""
    return Picture(
        networks=tuple(_nets(plan)),
        machines=tuple(_machines(plan)),
        ways_in=tuple(_ways_in(plan)),
        ways_out=() if plan.vpc or not plan.nat else ("NAT gateway, to package repositories",),
        services=(
            *(["the store: a bucket, through the gateway endpoint"] if plan.join is None else []),
            *([f"interface endpoints: {', '.join(plan.endpoints)}"] if plan.endpoints else []),
            *map(_told, plan.file_systems),
        ),
    )


def _ways_in(plan: AwsPlan) -> Iterator[str]:
    if plan.join is not None:
        yield f"other sites, through {plan.join.gateway or 'the routes of your own VPC'}:<br/>" + ", ".join(
            plan.join.networks
        )
    if plan.ssh_from:
        yield f"SSH from {', '.join(plan.ssh_from)}, through a load balancer"
    elif plan.with_role("login") or plan.with_role("controller"):
        yield f"people, through {_door(plan)}"


def _door(plan: AwsPlan) -> str:
    return "Session Manager" if plan.session_manager else "EC2 Instance Connect"


def _nets(plan: AwsPlan) -> Iterator[Net]:
    if plan.subnets is None:
        own = plan.vpc.nodes if plan.vpc else ""
        yield Net(_NODES, (f"your own: {own}", f"{plan.network} set aside"), False)
    else:
        lines = (
            f"VPC {plan.network} in {plan.zone}",
            f"nodes {plan.subnets.nodes}",
            f"services {plan.subnets.services}",
            *([f"public {plan.subnets.public}"] if plan.public else []),
        )
        yield Net(_NODES, lines, False)
    if any(one.kind.startswith("efa") for machine in plan.machines for one in machine.interfaces):
        yield Net(_FABRIC, ("one security group, all traffic within", "in the subnet of the nodes"), True)


def _machines(plan: AwsPlan) -> Iterator[Machines]:
    for pool in dict.fromkeys(machine.pool for machine in plan.machines):
        members = [machine for machine in plan.machines if machine.pool == pool]
        first = members[0]
        lines = (
            f"{len(members)} × {first.kind}",
            ", ".join(first.roles),
            *([first.capacity] if first.capacity != "on-demand" else []),
            *(["placement group"] if first.placement else []),
            *([f"keeps {first.kept.gib} GiB"] if first.kept else []),
        )
        yield Machines(pool, lines, _cards(first))


def _cards(machine: Machine) -> tuple[tuple[str, int], ...]:
    """An EFA with an address is on both sides."""
    counted: Counter[str] = Counter({_NODES: sum(one.addresses for one in machine.interfaces)})
    counted[_FABRIC] = sum(one.kind.startswith("efa") for one in machine.interfaces)
    return tuple((name, cards) for name, cards in counted.items() if cards)


def _told(system: FileSystem) -> str:
    size = f", {system.gib / 1024:,.4g} TiB" if system.gib else ""
    return f"{system.mount}: {system.kind}{size}"
