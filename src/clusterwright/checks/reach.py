"""Clouds: who reaches a cluster, and what it can reach itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Network

from clusterwright.checks.network import NEVER_ROUTED, PRIVATE, site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.linked import linked
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import seen_from
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.site import AwsSite, GcpSite

_PODMAN = IPv4Network("10.88.0.0/16")
_RULES_OF_A_GROUP = 60
_SERVERS = ("server", "mgs", "management", "monitors", "backends")
_ADDRESS = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(?![\d.])")
_REGION = re.compile(r"/regions/([a-z0-9-]+)/")


def clouds(outline: Outline) -> Iterator[tuple[str, AwsSite | GcpSite]]:
    return ((name, site) for name, site in outline.sites.items() if isinstance(site, AwsSite | GcpSite))


@rule(
    "CW1501",
    "An address that the network does not reach",
    source="a network that is made has a way to the internet and none to networks of one's own",
    example="site: {provider: aws, …}, surroundings: {package_mirror: 'http://192.168.1.5/debian'}",
    severity=Severity.WARNING,
)
def address_out_of_reach(outline: Outline) -> Iterator[Problem]:
    """The private addresses of a company end at its own border: nodes in a network that is made for them
    wait until a time-out, each at the first thing that it needs from there."""
    sites, joined = [site for _, site in clouds(outline)], linked(outline.spec)
    if (len(sites) != len(outline.sites) and not joined) or not sites or any(site.vpc for site in sites):
        return
    beyond = [*map(IPv4Network, joined.link.reaches)] if joined else []
    remedy = "Describe the network that reaches it with `vpc`, or peer it before the nodes boot"
    if joined:
        remedy = f"Name its network in `sites.{joined.name}.link.reaches`, where the link leads there"
    for field, text in _elsewhere(seen_from(outline.spec, joined.name if joined else "")):
        for address in _addresses(text):
            within = any(network and address in network for network in (*outline.networks.values(), *beyond))
            if any(address in network for network in PRIVATE) and not within:
                what = f"{address} is private, and not in a network of this cluster"
                yield Problem(field, what, remedy)


def _elsewhere(spec: ClusterSpec) -> Iterator[tuple[str, str]]:
    """What nodes are told to ask, by field."""
    surroundings, software = spec.surroundings, spec.software
    for key in ("http_proxy", "package_mirror", "security_mirror"):
        yield f"surroundings.{key}", getattr(surroundings, key) or ""
    for index, server in enumerate(surroundings.time_servers):
        yield f"surroundings.time_servers.{index}", server
    for key in ("slurm_repository", "mirror"):
        repository = getattr(software, key)
        yield f"software.{key}.url", repository.url if repository else ""
    yield "software.image_source", software.image_source or ""
    for mount, share in spec.storage.shares.items():
        for key in _SERVERS:
            told = getattr(share, key, None) or ""
            yield f"storage.shares.{mount}.{key}", told if isinstance(told, str) else " ".join(told)


def _addresses(text: str) -> Iterator[IPv4Address]:
    for found in _ADDRESS.findall(text):
        try:
            yield IPv4Address(found)
        except AddressValueError:
            continue


@rule(
    "CW1502",
    "People who never arrive",
    source="RFC 1918: private addresses are not routed; the way in has a public address on both clouds",
    example="site: {provider: aws, ssh_from: [10.0.0.0/8], …}",
    severity=Severity.WARNING,
)
def way_in_for_private_addresses(outline: Outline) -> Iterator[Problem]:
    """Whoever comes over the internet comes from the public address of their company, not from inside it."""
    for name, site in clouds(outline):
        for index, text in enumerate(site.ssh_from):
            if any(IPv4Network(text).subnet_of(private) for private in PRIVATE):
                what = f"nobody arrives at a public address from {text}"
                remedy = "Write the public range that your network is seen as"
                yield Problem(site_field(name, f"ssh_from.{index}"), what, remedy)


@rule(
    "CW1503",
    "A network twice",
    source="Amazon EC2 API Reference, AuthorizeSecurityGroupIngress: InvalidPermission.Duplicate",
    example="site: {provider: aws, ssh_from: [192.0.2.0/24, 192.0.2.0/24], …}",
)
def way_in_twice(outline: Outline) -> Iterator[Problem]:
    """The second rule is refused while the cluster is being made, or does nothing."""
    for name, site in clouds(outline):
        for index, text in enumerate(site.ssh_from):
            if text in site.ssh_from[:index]:
                what = f"{text} is in the list already"
                yield Problem(site_field(name, f"ssh_from.{index}"), what, "Remove it")


@rule(
    "CW1504",
    "More networks than a security group has rules",
    source="Amazon VPC quotas: 60 inbound rules of a security group",
    example="site: {provider: aws, ssh_from: [… 61 networks …]}",
    severity=Severity.WARNING,
)
def way_in_of_many_rules(outline: Outline) -> Iterator[Problem]:
    """Each network is a rule; the one above the account's quota is refused."""
    for name, site in clouds(outline):
        if isinstance(site, AwsSite) and len(site.ssh_from) > _RULES_OF_A_GROUP:
            what = f"{len(site.ssh_from)} networks, and a security group has {_RULES_OF_A_GROUP} rules"
            remedy = "Write fewer and larger networks, or have the quota raised"
            yield Problem(site_field(name, "ssh_from"), what, remedy)


@rule(
    "CW1505",
    "Nodes in a subnet that the internet reaches",
    source="aws-parallelcluster 451cc53, MultiNetworkInterfacesInstances: no public address by itself",
    example="site: {provider: aws, vpc: {nodes: subnet-1, public: subnet-1, …}, …}",
)
def nodes_in_public_subnet(outline: Outline) -> Iterator[Problem]:
    """A public subnet leads out for public addresses only. Machines with several interfaces never get one,
    so they have no way out at all and fail to boot, silently."""
    for name, site in clouds(outline):
        if isinstance(site, AwsSite) and site.vpc is not None and site.vpc.nodes == site.vpc.public:
            what = f"{site.vpc.nodes} is the subnet of nodes and the public one"
            yield Problem(site_field(name, "vpc.nodes"), what, "Name a private subnet with a NAT gateway")


@rule(
    "CW1506",
    "The network of containers is the nodes' own",
    source="containers.conf(5): default_subnet is 10.88.0.0/16",
    example="site: {network: 10.88.0.0/16, …}, software: {containers: true}",
    severity=Severity.WARNING,
)
def network_of_containers(outline: Outline) -> Iterator[Problem]:
    """podman routes its own network to a bridge on each node: what is in both is not reached any more."""
    if not outline.spec.software.containers:
        return
    for name, network in outline.networks.items():
        if network is not None and network.overlaps(_PODMAN):
            what = f"{network} overlaps with {_PODMAN}, which podman gives to containers"
            yield Problem(site_field(name, "network"), what, "Take another network")


@rule(
    "CW1507",
    "A network that nobody routes",
    source="RFC 6890: this host, loopback, link-local; RFC 5771: multicast",
    example="site: {provider: aws, network: 169.254.0.0/20, …}",
)
def network_never_routed(outline: Outline) -> Iterator[Problem]:
    """No cloud makes such a network; on 169.254.0.0/16 its metadata servers answer."""
    for name, network in outline.networks.items():
        if network is not None and any(network.overlaps(other) for other in NEVER_ROUTED):
            what = f"no packet leaves its machine for {network}"
            yield Problem(site_field(name, "network"), what, "Take one of 10.0.0.0/8")


@rule(
    "CW1508",
    "A subnet of another region",
    source="Google Cloud VPC documentation: subnets are regional, and a machine is in one of its region",
    example="site: {region: us-central1, vpc: {subnet: projects/p/regions/us-east4/subnetworks/hpc, …}, …}",
)
def subnet_of_another_region(outline: Outline) -> Iterator[Problem]:
    """The first machine is refused, after everything before it is made."""
    for name, site in clouds(outline):
        if not isinstance(site, GcpSite) or site.vpc is None:
            continue
        region = _REGION.search(site.vpc.subnet)
        if region and region[1] != site.region:
            what = f"the subnet is in {region[1]}, and the site in {site.region}"
            yield Problem(site_field(name, "vpc.subnet"), what, "Name a subnet of the site's region")
