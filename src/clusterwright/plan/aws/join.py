"""The way to the other sites of a cluster: what is routed through it, and who is let in."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, collapse_addresses

from clusterwright.plan.aws.model import Door, Join
from clusterwright.plan.model import ClusterPlan
from clusterwright.spec.link import Link
from clusterwright.spec.site import AwsSite

_SSH = (22, 22)
_SLURM = (6817, 6818)
"""slurm.conf(5): the defaults of SlurmctldPort and SlurmdPort."""
_EXPORTER = (9100, 9100)
"""prometheus-node-exporter(1): --web.listen-address."""
_DCGM = (9400, 9400)
"""dcgm-exporter's --address, as its own service starts it."""
_EVERY_PORT = (0, 65535)
_ALL = (-1, -1)


def join(plan: ClusterPlan, name: str, site: AwsSite) -> Join | None:
    """Of the site of this name, from the plan of the whole cluster."""
    link = site.link
    if link is None:
        return None
    others = _merged(one.network for one in plan.sites if one.name != name)
    networks = _merged((*others, *link.operators_from, *link.reaches))
    return Join(link.gateway or "", networks, tuple(_doors(plan, name, link, others)))


def _merged(networks: Iterator[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(str, collapse_addresses(IPv4Network(network) for network in networks)))


def _doors(plan: ClusterPlan, name: str, link: Link, others: tuple[str, ...]) -> Iterator[Door]:
    """Answers to what a node opened itself come in by themselves: a security group is stateful."""
    roles = {role for node in plan.nodes if node.site == name for role in node.roles}
    for network in others:
        yield Door(network, "icmp", _ALL, "packets that are too long for the way, and ping")
        if roles & {"login", "controller", "storage"}:
            # srun listens for its steps at ports that it is given, and who serves files does at several.
            yield Door(network, "tcp", _EVERY_PORT, "nodes of other sites")
            continue
        yield Door(network, "tcp", _SSH, "who converges nodes")
        yield Door(network, "tcp", _SLURM, "Slurm")
        if plan.spec.software.monitoring:
            yield Door(network, "tcp", _EXPORTER, "Prometheus")
            if _exports_dcgm(plan, name):
                yield Door(network, "tcp", _DCGM, "Prometheus, for GPUs")
    for network in _merged(tuple(link.operators_from)):
        if not any(IPv4Network(network).subnet_of(IPv4Network(other)) for other in others):
            yield Door(network, "tcp", _SSH, "operators")


def _exports_dcgm(plan: ClusterPlan, name: str) -> bool:
    pools = {node.pool for node in plan.nodes if node.site == name}
    return any("dcgm_exporter" in plan.lock.pools.get(pool, {}) for pool in pools)
