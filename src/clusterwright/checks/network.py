"""Networks and sites."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import accumulate, combinations

from clusterwright.catalog.subnets import reserved
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.address import prefix_for, room
from clusterwright.plan.interfaces import addresses_of_site
from clusterwright.plan.outline import SINGLE_SITE, Outline
from clusterwright.spec.nodeset import size
from clusterwright.spec.pool import Role
from clusterwright.spec.site import OnpremSite

PRIVATE = tuple(
    IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
NEVER_ROUTED = tuple(
    IPv4Network(text) for text in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4")
)


def site_field(site: str, key: str = "") -> str:
    base = "site" if site == SINGLE_SITE else f"sites.{site}"
    return f"{base}.{key}" if key else base


def _addresses(outline: Outline, pool: str) -> int:
    """Addresses that one node of a pool takes."""
    kind, site = outline.types[pool], outline.sites[outline.site_names[pool] or ""]
    if kind is None or kind.hardware.provider != site.provider:
        return 1
    return addresses_of_site(kind, fabric=Role.COMPUTE in outline.spec.pools[pool].roles)


@rule(
    "CW1211",
    "The network is too small",
    source="the interfaces of each machine type; AWS keeps five addresses of a subnet, Google Cloud four",
    example="site: {provider: aws, network: 10.0.0.0/28}, with 12 nodes: 11 addresses are free",
)
def network_too_small(outline: Outline) -> Iterator[Problem]:
    """Every node of a site needs an address of the site's network, also those added later."""
    for site, network in outline.node_networks.items():
        pools = [pool for pool, home in outline.site_names.items() if home == site]
        taken = [_addresses(outline, pool) for pool in pools for _ in range(outline.count(pool))]
        kept, needed = reserved(outline.sites[site].provider), sum(taken)
        if network is None or room(network, kept) >= needed:
            continue
        node = next(i for i, used in enumerate(accumulate(taken), 1) if used > room(network, kept))
        own = kept.first + kept.last
        what = f"{network} runs out of addresses at node {node} of {len(taken)}: {own} are not for nodes"
        # A network that is split for its cloud has a bit less for nodes.
        split = network.prefixlen - (outline.networks[site] or network).prefixlen
        length = prefix_for(needed, kept) - split
        yield Problem(site_field(site, "network"), what, f"Give a network of /{length} or larger")


@rule(
    "CW1212",
    "The networks of two sites overlap",
    source="RFC 1519: a route must lead to one place",
    example="sites: {a: {network: 10.0.0.0/8}, b: {network: 10.1.0.0/16}}",
)
def networks_overlap(outline: Outline) -> Iterator[Problem]:
    """Nodes of different sites talk to one controller, so no address may exist twice."""
    for (one, first), (other, second) in combinations(outline.networks.items(), 2):
        if first is not None and second is not None and first.overlaps(second):
            what = f"{second} overlaps with {first} of the site '{one}'"
            yield Problem(site_field(other, "network"), what, "Give each site a network of its own")


@rule(
    "CW1213",
    "The network is not a private one",
    source="RFC 1918, RFC 6598: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10",
    example="site: {provider: lab, network: 8.8.0.0/16}",
    severity=Severity.WARNING,
)
def network_not_private(outline: Outline) -> Iterator[Problem]:
    """Addresses of the public internet used inside a cluster cut it off from their real owners."""
    for site, network in outline.networks.items():
        if network is not None and not any(network.subnet_of(known) for known in (*PRIVATE, *NEVER_ROUTED)):
            remedy = "Take one of 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16"
            yield Problem(site_field(site, "network"), f"{network} is not private", remedy)


@rule(
    "CW1214",
    "A site without nodes",
    source="a description says what is wanted; a site that no pool is on is a slip or a leftover",
    example="sites: {here: …, there: …}, and every pool on `here`",
    severity=Severity.WARNING,
)
def site_unused(outline: Outline) -> Iterator[Problem]:
    """A network would be made, and paid for, that no node is in."""
    used = set(outline.site_names.values())
    for site in outline.sites:
        if site not in used and None not in used:
            yield Problem(
                site_field(site), f"no pool is on the site '{site}'", "Remove it, or put a pool there"
            )


@rule(
    "CW1215",
    "A partition reaches over sites",
    source="aws-parallelcluster 451cc53, EfaMultiAz validator; Google Cloud: RoCE networks are zonal",
    example="pools: {a: {site: east, partitions: gpu}, b: {site: west, partitions: gpu}}",
    severity=Severity.WARNING,
)
def partition_over_sites(outline: Outline) -> Iterator[Problem]:
    """A job over both sites would fall back to the slow network between them, silently."""
    homes: dict[str, str] = {}
    for name, pool in outline.pools_with(Role.COMPUTE):
        site = outline.site_names[name]
        for partition in pool.partitions or [name]:
            if site and homes.setdefault(partition, site) != site:
                what = f"the partition '{partition}' has nodes on '{homes[partition]}' and on '{site}'"
                yield Problem(f"pools.{name}.partitions", what, "Give each site partitions of its own")


@rule(
    "CW1652",
    "The network is too small for the racks",
    source="the description's own racks: nodes that they have room for",
    example='site: {network: 10.70.0.0/25}, racks: {names: "a[01-40]", nodes_per_rack: 4}',
    severity=Severity.WARNING,
)
def network_below_racks(outline: Outline) -> Iterator[Problem]:
    """The nodes that are described have addresses; those that the racks have room for would not."""
    for site, network in outline.node_networks.items():
        if network is None or not isinstance(outline.sites[site], OnpremSite):
            continue
        nodes = places = 0
        for pool, wanted in outline.spec.pools.items():
            if outline.site_names[pool] == site:
                racks, count = wanted.racks, outline.count(pool)
                nodes += count
                places += max(count, size(racks.names) * racks.nodes_per_rack if racks and racks.names else 0)
        kept = reserved(outline.sites[site].provider)
        if nodes <= (free := room(network, kept)) < places:
            what = f"racks have room for {places} nodes, and {network} has {free} addresses"
            remedy = f"A network of /{prefix_for(places, kept)} has room for them"
            yield Problem(site_field(site, "network"), what, remedy)
