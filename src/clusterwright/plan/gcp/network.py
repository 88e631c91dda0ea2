"""VPC networks of a site on Google Cloud, and how their subnets are cut.

Every network card has a fixed part of the fabric's range, whatever machines there are: a pool that is added
moves no subnet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network

from clusterwright.plan.gcp.model import Vpc
from clusterwright.plan.interfaces import InterfacePlan, Network, interface_plan
from clusterwright.plan.outline import Outline
from clusterwright.spec.pool import Role
from clusterwright.spec.site import GcpSite

FIRST = "host-0"
"""The network that nodes have their address in."""
PARTS = 32
"""Of the fabric's range: 24 for cards, and the last quarter for Google's own services."""
_FIRST_PART = {"host": -1, "gpu": 1, "rdma": 9}
"""Of the cards of a kind: host-1 has part 0, gpu-0 part 1, the first RDMA card part 9."""
_PROFILES = {"rdma": "vpc-roce", "rdma-metal": "vpc-roce-metal"}
_MTU = 1460
"""Google Cloud VPC documentation, maximum transmission unit: the default."""


def vpcs(outline: Outline, site: str) -> tuple[Vpc, ...]:
    """What is made; an existing network stands in for the first."""
    ground = outline.sites[site]
    assert isinstance(ground, GcpSite)
    wanted: dict[str, list[Network]] = {}
    for plan in interface_plans(outline, site).values():
        for network in plan.networks:
            wanted.setdefault(network.name, []).append(network)
    made = (_vpc(outline, site, ground, same) for same in wanted.values())
    return tuple(vpc for vpc in made if not (ground.vpc and vpc.name == FIRST))


def interface_plans(outline: Outline, site: str) -> Mapping[str, InterfacePlan]:
    """By pool of the site whose machine type is known."""
    return {
        pool: interface_plan(kind, fabric=Role.COMPUTE in outline.spec.pools[pool].roles)
        for pool, kind in outline.types.items()
        if outline.site_names[pool] == site and kind is not None and kind.hardware.provider == "gcp"
    }


def _vpc(outline: Outline, site: str, ground: GcpSite, same: list[Network]) -> Vpc:
    """Machine types that want other sizes of packets share the smallest."""
    network = same[0]
    mtu = min((one.mtu for one in same if one.mtu), default=_MTU)
    profile = _PROFILES.get(network.kind)
    return Vpc(
        name=network.name,
        kind=network.kind,
        mtu=mtu,
        profile=f"projects/{ground.project}/global/networkProfiles/{ground.zone}-{profile}"
        if profile
        else None,
        subnets=tuple(_ranges(outline, site, network, max(one.subnets for one in same))),
    )


def _ranges(outline: Outline, site: str, network: Network, count: int) -> Iterator[str]:
    if network.name == FIRST:
        yield outline.network_text(site)
        return
    number = int(network.name.rpartition("-")[2]) if network.kind in {"host", "gpu"} else 0
    for subnet in range(count):
        yield str(part(fabric_network(outline, site), _FIRST_PART[network.kind] + number + subnet))


def fabric_network(outline: Outline, site: str) -> IPv4Network:
    """The site's own, else 10.130.0.0/16 for the first site, 10.131.0.0/16 for the next …"""
    ground = outline.sites[site]
    own = ground.fabric_network if isinstance(ground, GcpSite) else None
    return IPv4Network(own or f"10.{130 + list(outline.sites).index(site) % 64}.0.0/16")


def part(fabric: IPv4Network, number: int) -> IPv4Network:
    """One of the equal parts."""
    size = fabric.num_addresses // PARTS
    return IPv4Network((int(fabric.network_address) + number * size, fabric.prefixlen + 5))


def services_network(outline: Outline, site: str) -> IPv4Network:
    """What Filestore and Managed Lustre take addresses of."""
    return list(fabric_network(outline, site).subnets(prefixlen_diff=2))[-1]


def addresses_by_card(outline: Outline, site: str) -> Mapping[tuple[str, int], int]:
    """Addresses that all nodes take, by network and subnet."""
    taken: Counter[tuple[str, int]] = Counter()
    for pool, plan in interface_plans(outline, site).items():
        for interface in plan.interfaces:
            taken[interface.network, interface.subnet] += interface.addresses * outline.count(pool)
    return taken
