"""The parts of a site's network that a cloud makes subnets of."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from clusterwright.spec.site import AwsSite, Site

SMALLEST_SPLIT = 26
"""Longest prefix of a network whose quarters AWS still takes as subnets, /28 at the least."""


@dataclass(frozen=True, slots=True)
class Subnets:
    """Nodes have a subnet of their own: what picks its address by itself can take none that is planned."""

    nodes: IPv4Network
    services: IPv4Network
    """For file systems and endpoints."""
    public: IPv4Network
    """For the way out, and for the load balancer that people come through."""


def split(network: IPv4Network) -> Subnets:
    """One half for nodes, a quarter each for services and for what has a public address."""
    nodes, rest = network.subnets(prefixlen_diff=1)
    services, public = rest.subnets(prefixlen_diff=1)
    return Subnets(nodes, services, public)


def node_network(site: Site, network: IPv4Network) -> IPv4Network:
    """Where the addresses of nodes come from."""
    made = isinstance(site, AwsSite) and site.vpc is None
    return split(network).nodes if made and network.prefixlen <= SMALLEST_SPLIT else network
