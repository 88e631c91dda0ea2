"""Names of what is made on Google Cloud: from the cluster and its nodes, never from an index of a loop."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from clusterwright.plan.interfaces import Network

_ACCOUNT = 30
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


def account_id(cluster: str) -> str:
    """Of a service account: 6 to 30 characters, so a long name of a cluster is cut and told apart."""
    whole = f"{cluster}-nodes"
    return whole if len(whole) <= _ACCOUNT else f"{cluster[: _ACCOUNT - 9].rstrip('-')}-{_digest(cluster, 8)}"


def bucket_name(project: str, cluster: str) -> str:
    """Names of buckets are one space for the whole world."""
    return f"{cluster}-{_digest(f'{project}/{cluster}', 10)}"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
