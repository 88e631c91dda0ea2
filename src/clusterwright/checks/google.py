"""Google Cloud: networks of further cards, names, file systems and images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network

from clusterwright.catalog.cloud import GIB, Sizes, storage_sizes
from clusterwright.catalog.images import image
from clusterwright.catalog.subnets import reserved
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.address import prefix_for, room
from clusterwright.plan.gcp.names import NAME, longest, machine_name, network_names
from clusterwright.plan.gcp.network import (
    FIRST,
    PARTS,
    addresses_by_card,
    fabric_network,
    interface_plans,
    part,
    services_network,
)
from clusterwright.plan.outline import Outline
from clusterwright.spec.google_storage import GOOGLE, Filestore, ManagedLustre
from clusterwright.spec.site import GcpSite

_SMALLEST_FABRIC = 24
"""32 parts of it are subnets of /29, the smallest that Google Cloud makes."""


def _sites(outline: Outline) -> Iterator[tuple[str, GcpSite]]:
    return ((name, site) for name, site in outline.sites.items() if isinstance(site, GcpSite))


def _shares(outline: Outline) -> Iterator[tuple[str, Filestore | ManagedLustre]]:
    for mount, share in outline.spec.storage.shares.items():
        if isinstance(share, GOOGLE):
            yield f"storage.shares.{mount}", share


@rule(
    "CW1371",
    "The fabric's network runs into another one",
    source="Google Cloud VPC documentation, multiple network interfaces: ranges that differ",
    example="site: {provider: gcp, network: 10.130.0.0/16, …}, with machines of nine cards",
)
def fabric_network_overlaps(outline: Outline) -> Iterator[Problem]:
    """A machine has a card in each: it would send to its neighbours over the wrong one."""
    for name, site in _sites(outline):
        fabric = fabric_network(outline, name)
        for other, network in outline.networks.items():
            if network is not None and fabric.overlaps(network):
                field = "fabric_network" if site.fabric_network else "network"
                whose = "the site" if other == name else f"the site '{other}'"
                what = (
                    f"{fabric}, of which further cards have their subnets, overlaps with {network} of {whose}"
                )
                yield Problem(site_field(name, field), what, "Give `fabric_network` a range of its own")


@rule(
    "CW1372",
    "A card's subnet is too small",
    source="Google Cloud VPC documentation: a subnet keeps four addresses; every card takes one",
    example="site: {provider: gcp, fabric_network: 10.1.0.0/22, …}, with more than 28 machines of many cards",
)
def card_subnet_too_small(outline: Outline) -> Iterator[Problem]:
    """The machine at which the subnet of a card is full cannot be made."""
    kept = reserved("gcp")
    for name, _ in _sites(outline):
        fabric = fabric_network(outline, name)
        if fabric.prefixlen > _SMALLEST_FABRIC:
            what = f"{fabric} is cut into {PARTS} subnets, and Google Cloud makes none that small"
            yield Problem(
                site_field(name, "fabric_network"), what, f"Give it a /{_SMALLEST_FABRIC} or larger"
            )
            continue
        needed = max(
            (taken for (net, _), taken in addresses_by_card(outline, name).items() if net != FIRST), default=0
        )
        subnet = part(fabric, 0)
        if room(subnet, kept) < needed:
            what = f"each of {PARTS} parts of {fabric} has room for {room(subnet, kept)} machines of {needed}"
            remedy = f"Give `fabric_network` a /{prefix_for(needed, kept) - 5} or larger"
            yield Problem(site_field(name, "fabric_network"), what, remedy)


@rule(
    "CW1373",
    "A network of one's own without its range",
    source="addresses of nodes are planned: the plan has to know what they are taken of",
    example="site: {provider: gcp, vpc: {name: ours, subnet: hpc}, …}, without `network`",
)
def existing_network_without_range(outline: Outline) -> Iterator[Problem]:
    """Nodes would be given addresses that the subnet does not have."""
    for name, site in _sites(outline):
        if site.vpc is not None and site.network is None:
            what = f"nobody says which range the subnet '{site.vpc.subnet}' has"
            yield Problem(site_field(name, "vpc"), what, "Add `network` with the subnet's range")


@rule(
    "CW1374",
    "A name that Google Cloud does not take",
    source="Google Cloud, naming convention: 63 lower-case letters, digits and hyphens, a letter first",
    example="cluster: a-name-of-forty-characters, pools: {gpu: {nodes: 'node-of-the-second-room[1-4]'}}",
)
def name_not_taken(outline: Outline) -> Iterator[Problem]:
    """Resources are named after the cluster and its nodes; the first one with such a name is refused."""
    for name, _ in _sites(outline):
        for pool, nodes in outline.names.items():
            if outline.site_names[pool] != name:
                continue
            wrong = [
                node for node in nodes or () if not NAME.fullmatch(machine_name(outline.spec.cluster, node))
            ]
            if wrong:
                what = f"a machine cannot be called '{machine_name(outline.spec.cluster, wrong[0])}'"
                field = "nodes" if outline.spec.pools[pool].nodes else ""
                yield Problem(
                    f"pools.{pool}.{field}".rstrip("."),
                    what,
                    "Shorten the cluster's name or rename the nodes",
                )
        networks = [network for plan in interface_plans(outline, name).values() for network in plan.networks]
        made = longest(network_names(outline.spec.cluster, networks))
        if made and not NAME.fullmatch(made):
            yield Problem("cluster", f"a network cannot be called '{made}'", "Shorten the cluster's name")


@rule(
    "CW1375",
    "A file system of another cloud",
    source="Filestore and Managed Lustre are reached from VPC networks of Google Cloud only",
    example="site: {provider: onprem}, storage: {shares: {/home: {kind: filestore, size: 1 TiB}}}",
)
def share_of_another_cloud(outline: Outline) -> Iterator[Problem]:
    """Nobody would make it, and no node could reach it."""
    if outline.sites and not any(_sites(outline)):
        for field, share in _shares(outline):
            what = f"'{share.kind}' is made on Google Cloud, and no site of this cluster is there"
            yield Problem(f"{field}.kind", what, "Take a kind of share that the site has")


@rule(
    "CW1376",
    "A size that the file system is not made in",
    source="the table of sizes: Filestore, service tiers; Managed Lustre, capacities of performance tiers",
    example="storage: {shares: {/home: {kind: filestore, size: 1100 GiB}}}",
)
def size_not_offered(outline: Outline) -> Iterator[Problem]:
    """Google would refuse it after everything before it is made."""
    for field, share in _shares(outline):
        tier = share.tier if isinstance(share, Filestore) else str(share.throughput_per_tib)
        ranges = storage_sizes()[share.kind, tier]
        if not any(sizes.take(share.size / GIB) for sizes in ranges):
            what = f"'{share.kind}' of the tier {tier} is not made with {share.size / GIB:,.0f} GiB"
            yield Problem(f"{field}.size", what, f"Take {' or '.join(map(_told, ranges))}")


def _told(sizes: Sizes) -> str:
    return f"{sizes.least:,} to {sizes.most:,} GiB in steps of {sizes.step:,} GiB"


@rule(
    "CW1377",
    "Machines that want packets of different sizes",
    source="the catalog of network cards: MTU that each machine type's networks are made with",
    example="pools: {a: {machine: a3-megagpu-8g}, b: {machine: a3-ultragpu-8g}}, on one site",
    severity=Severity.WARNING,
)
def mixed_mtu(outline: Outline) -> Iterator[Problem]:
    """A VPC network has one size for all: the machines with the larger one get less out of their cards."""
    for name, _ in _sites(outline):
        seen: dict[str, int] = {}
        for pool, plan in interface_plans(outline, name).items():
            for network in plan.networks:
                other = seen.setdefault(network.name, network.mtu) if network.mtu else None
                if other != network.mtu:
                    what = f"the network '{network.name}' wants {network.mtu} here and {other} elsewhere"
                    yield Problem(f"pools.{pool}.machine", what, "Give these machines a cluster of their own")
                    break


@rule(
    "CW1378",
    "No image of the distribution",
    source="the table of images; Google Cloud documentation, operating system details",
    example="site: {provider: gcp, …}, software: {distribution: amazon-2023}",
)
def no_image(outline: Outline) -> Iterator[Problem]:
    """There is nothing to boot the machines from."""
    distribution = outline.spec.software.distribution
    for pool, kind in outline.types.items():
        site = outline.sites.get(outline.site_names[pool] or "")
        if not isinstance(site, GcpSite) or kind is None or outline.spec.pools[pool].image:
            continue
        if image(distribution, "gcp", kind.hardware.architecture) is None:
            what = f"no image of {distribution} for {kind.hardware.architecture} is known on Google Cloud"
            yield Problem(
                f"pools.{pool}.machine", what, "Name one with `image`, or take another distribution"
            )


@rule(
    "CW1380",
    "Not the ID of a project",
    source="Google Cloud Resource Manager documentation: 6 to 30 letters, digits and hyphens",
    example="site: {provider: gcp, project: hpc, …}",
)
def project_id(outline: Outline) -> Iterator[Problem]:
    """Its name and its number are something else, and the provider takes neither."""
    for name, site in _sites(outline):
        if not re.fullmatch(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", site.project):
            what = f"'{site.project}' is not the ID of a project: it has 6 to 30 characters"
            yield Problem(site_field(name, "project"), what, "Write what `gcloud config get project` tells")


@rule(
    "CW1381",
    "The way in is open to everybody",
    source="CIS Google Cloud Foundations Benchmark: SSH access restricted from the internet",
    example="site: {provider: gcp, ssh_from: [0.0.0.0/0], …}",
    severity=Severity.WARNING,
)
def open_to_everybody(outline: Outline) -> Iterator[Problem]:
    """Passwords are guessed within minutes of the first boot, and so will be the next fault of the server."""
    for name, site in _sites(outline):
        if any(IPv4Network(network).prefixlen == 0 for network in site.ssh_from):
            what = "the login nodes may be reached from the whole internet"
            yield Problem(
                site_field(name, "ssh_from"), what, "Name your networks, or leave it out and use IAP"
            )


@rule(
    "CW1379",
    "Services' addresses do not fit",
    source="Google Cloud VPC documentation, private services access: /24 at the least",
    example="site: {provider: gcp, fabric_network: 10.1.0.0/24, …}, with a Filestore share",
)
def services_too_small(outline: Outline) -> Iterator[Problem]:
    """Filestore and Managed Lustre take their addresses of the last quarter of the fabric's network."""
    if not any(_shares(outline)):
        return
    for name, site in _sites(outline):
        if site.vpc is None and (services := services_network(outline, name)).prefixlen > _SMALLEST_FABRIC:
            what = f"{services} is too small for Google's services: they take a /24 or larger"
            yield Problem(site_field(name, "fabric_network"), what, "Give `fabric_network` a /22 or larger")
