"""Clusters on Google Cloud, as components of a Pulumi program."""

from __future__ import annotations

from clusterwright.providers.gcp.access import Doors, NodeAccount
from clusterwright.providers.gcp.cluster import Cluster
from clusterwright.providers.gcp.fabric import Fabric
from clusterwright.providers.gcp.network import ExistingNetwork, Network
from clusterwright.providers.gcp.nodes import NodePool
from clusterwright.providers.gcp.state import KeptDisk
from clusterwright.providers.gcp.storage import SharedStorage
from clusterwright.providers.gcp.store import Store
from clusterwright.providers.gcp.watch import Budget

__all__ = [
    "Budget",
    "Cluster",
    "Doors",
    "ExistingNetwork",
    "Fabric",
    "KeptDisk",
    "Network",
    "NodeAccount",
    "NodePool",
    "SharedStorage",
    "Store",
]
