"""Names of what is made on Google Cloud: from the cluster and its nodes, never from an index of a loop."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clusterwright.plan.interfaces import Network

NAME = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
"""Google Cloud, naming convention of resources."""


def machine_name(cluster: str, node: str) -> str:
    """Unique in its project and zone, where more than one cluster may be."""
    return f"{cluster}-{node}"


def network_name(cluster: str, network: str) -> str:
    return f"{cluster}-{network}"


def subnet_name(cluster: str, network: str, subnet: int, of: int) -> str:
    """A network's only subnet has its name."""
    name = network_name(cluster, network)
    return name if of == 1 else f"{name}-{subnet}"


def network_names(cluster: str, networks: Iterable[Network]) -> list[str]:
    return [subnet_name(cluster, net.name, max(net.subnets - 1, 0), net.subnets) for net in networks]


def longest(names: Iterable[str]) -> str:
    return max(names, key=len, default="")
