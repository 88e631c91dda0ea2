"""Clusters on AWS, as components of a Pulumi program.

They are imported when they are asked for: what publishes into the bucket needs no Pulumi.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clusterwright.providers.aws.access import InstanceConnect, LoginBalancer
    from clusterwright.providers.aws.cluster import Cluster
    from clusterwright.providers.aws.fabric import Fabric
    from clusterwright.providers.aws.identity import NodeIdentity
    from clusterwright.providers.aws.image import Images
    from clusterwright.providers.aws.names import Names
    from clusterwright.providers.aws.network import ExistingNetwork, Network
    from clusterwright.providers.aws.nodes import NodePool
    from clusterwright.providers.aws.state import KeptVolume
    from clusterwright.providers.aws.storage import SharedStorage
    from clusterwright.providers.aws.store import Store
    from clusterwright.providers.aws.watch import Budget, RefusedTraffic

__all__ = [
    "Budget",
    "Cluster",
    "ExistingNetwork",
    "Fabric",
    "Images",
    "InstanceConnect",
    "KeptVolume",
    "LoginBalancer",
    "Names",
    "Network",
    "NodeIdentity",
    "NodePool",
    "RefusedTraffic",
    "SharedStorage",
    "Store",
]
_HOME = {
    "access": ("InstanceConnect", "LoginBalancer"),
    "cluster": ("Cluster",),
    "fabric": ("Fabric",),
    "identity": ("NodeIdentity",),
    "image": ("Images",),
    "names": ("Names",),
    "network": ("ExistingNetwork", "Network"),
    "nodes": ("NodePool",),
    "state": ("KeptVolume",),
    "storage": ("SharedStorage",),
    "store": ("Store",),
    "watch": ("Budget", "RefusedTraffic"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
