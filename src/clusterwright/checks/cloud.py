"""Clouds: where machines are sold, and what is made there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.subnets import reserved
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.address import room
from clusterwright.plan.outline import Outline
from clusterwright.plan.slots import PARTS, part_size, places
from clusterwright.plan.subnets import SMALLEST_SPLIT
from clusterwright.spec.pool import Role
from clusterwright.spec.site import AwsSite, GcpSite, Site


def cloud_pools(outline: Outline) -> Iterator[tuple[str, AwsSite | GcpSite, MachineType]]:
    """Pools whose machines their own cloud makes."""
    for name, kind in outline.types.items():
        site = outline.sites.get(outline.site_names[name] or "")
        if (
            isinstance(site, AwsSite | GcpSite)
            and kind is not None
            and kind.hardware.provider == site.provider
        ):
            yield name, site, kind


@rule(
    "CW1331",
    "A machine type that is not sold in the region",
    source="the catalog of offerings: Amazon EC2 DescribeInstanceTypeOfferings; Google Cloud price lists",
    example="site: {provider: aws, region: us-west-1, …}, pools: {gpu: {machine: p6-b200.48xlarge}}",
    severity=Severity.WARNING,
)
def not_sold_in_region(outline: Outline) -> Iterator[Problem]:
    """The first machine cannot be made. The list has a date: new regions are added to a type over time."""
    for name, site, kind in cloud_pools(outline):
        offering = outline.catalog.offerings.get(kind.name)
        if offering is not None and site.region not in offering.zones:
            what = f"'{kind.name}' is not known to be sold in {site.region} (as of {offering.date})"
            yield Problem(f"pools.{name}.machine", what, f"It is in: {', '.join(offering.zones)}")


@rule(
    "CW1332",
    "A machine type that is not sold in the zone",
    source="the catalog of offerings: Amazon EC2 DescribeInstanceTypeOfferings; Google Cloud price lists",
    example="site: {provider: aws, zone: us-east-1a, …}, pools: {gpu: {machine: p6-b200.48xlarge}}",
    severity=Severity.WARNING,
)
def not_sold_in_zone(outline: Outline) -> Iterator[Problem]:
    """GPUs are in few zones of a region. Names of zones differ between accounts of AWS: ask for yours."""
    for name, site, kind in cloud_pools(outline):
        offering = outline.catalog.offerings.get(kind.name)
        zones = offering.zones.get(site.region, ()) if offering else ()
        if offering is not None and zones and site.zone not in zones:
            what = f"'{kind.name}' is not known to be sold in {site.zone} (as of {offering.date})"
            yield Problem(f"pools.{name}.machine", what, f"In {site.region} it is in: {', '.join(zones)}")


@rule(
    "CW1333",
    "A zone of another region",
    source="Amazon EC2 and Google Cloud documentation, regions and zones: a zone begins with its region",
    example="site: {provider: aws, region: us-east-2, zone: us-west-2a}",
)
def zone_of_another_region(outline: Outline) -> Iterator[Problem]:
    """Networks are made in the region, machines in the zone: neither would find the other."""
    for name, site in outline.sites.items():
        if isinstance(site, AwsSite | GcpSite) and not re.match(rf"{site.region}-?[a-z]", site.zone):
            like = f"{site.region}a" if isinstance(site, AwsSite) else f"{site.region}-a"
            what = f"the zone {site.zone} is not in {site.region}"
            yield Problem(
                site_field(name, "zone"), what, f"Write a zone of the region, for instance `{like}`"
            )


@rule(
    "CW1340",
    "A network that the cloud does not make",
    source="Amazon VPC User Guide: subnets of /16 to /28; Google Cloud VPC documentation: /4 to /29",
    example="site: {provider: aws, network: 10.0.0.0/12, …}",
)
def network_of_impossible_size(outline: Outline) -> Iterator[Problem]:
    """The subnet that all nodes of the site share is made in this size, or not at all. A network that is
    made on AWS has three: half for nodes, a quarter each for services and for what has a public address."""
    for name, network in outline.networks.items():
        if network is not None and not _is_made(outline, name):
            what = f"{outline.sites[name].provider} makes no network of /{network.prefixlen}"
            largest, smallest = _lengths(outline.sites[name])
            yield Problem(site_field(name, "network"), what, f"Write a network of /{largest} to /{smallest}")


def _lengths(site: Site) -> tuple[int, int]:
    """Prefixes that a site's cloud takes."""
    limits = reserved(site.provider)
    split = isinstance(site, AwsSite) and site.vpc is None
    return limits.largest or 0, SMALLEST_SPLIT if split else limits.smallest or 32


def _is_made(outline: Outline, site: str) -> bool:
    network = outline.networks[site]
    largest, smallest = _lengths(outline.sites[site])
    return network is not None and largest <= network.prefixlen <= smallest


@rule(
    "CW1341",
    "A topology without a fabric",
    source="the catalog of machine types: network cards of the fabric",
    example="fabric: {topology: tree, …}, pools: {gpu: {machine: g5.xlarge}} on AWS",
    severity=Severity.WARNING,
)
def topology_without_fabric(outline: Outline) -> Iterator[Problem]:
    """Slurm would place jobs close together for a network that these machines do not have."""
    if outline.spec.fabric.topology == "flat":
        return
    for name, _, kind in cloud_pools(outline):
        if Role.COMPUTE in outline.spec.pools[name].roles and kind.fabric_gbps is None:
            what = (
                f"'{kind.name}' has no card of a fabric, and the topology is '{outline.spec.fabric.topology}'"
            )
            yield Problem(f"pools.{name}.machine", what, "Take a type with a fabric, or the topology `flat`")


@rule(
    "CW1342",
    "Addresses that other nodes' changes may move",
    source="clusterwright: a stack plans from the description alone; docs/aws.md",
    example="site: {provider: aws, network: 10.0.0.0/24, …}, pools: {gpu: {count: 16}}",
    severity=Severity.WARNING,
)
def address_not_by_number(outline: Outline) -> Iterator[Problem]:
    """A node whose number has no place in its pool's part of the network takes the lowest address that is
    free. When others come and go it may get another one, which on a cloud means another machine."""
    position: dict[str, int] = {}
    for name, names in outline.names.items():
        site = outline.site_names[name] or ""
        network = outline.node_networks.get(site)
        if network is None or not isinstance(outline.sites[site], AwsSite | GcpSite):
            continue
        own = [pool for pool, home in outline.site_names.items() if home == site]
        kept = reserved(outline.sites[site].provider)
        if sum(map(outline.count, own)) > room(network, kept) or not _is_made(outline, site):
            continue  # CW1211 or CW1340 says so
        position[site] = position.get(site, -1) + 1
        size = part_size(network, kept)
        highest = max(places(names or ()), default=0)
        if position[site] >= PARTS or highest >= size:
            what = f"node number {highest} of the pool '{name}' has no place of its own in {network}"
            remedy = f"Give a larger network: each of {PARTS} pools has a part with room for {size} nodes"
            yield Problem(f"pools.{name}", what, remedy)
