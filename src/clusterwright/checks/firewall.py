"""The firewall of own machines: who is let in, and who would be locked out."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from itertools import combinations

from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import mounted_shares
from clusterwright.spec.firewall import Firewall
from clusterwright.spec.parallel import BeeGfs, Lustre, Weka
from clusterwright.spec.site import AwsSite, GcpSite, OnpremSite, Site


def _described(outline: Outline) -> Iterator[tuple[str, Site, Firewall]]:
    for name, site in outline.sites.items():
        if site.firewall is not None:
            yield name, site, site.firewall


@rule(
    "CW1770",
    "A firewall that lets no operator in",
    source="clusterwright: `up` reaches each machine over SSH",
    example="site: {provider: onprem, firewall: {people_from: 10.0.0.0/8}}",
)
def no_operators(outline: Outline) -> Iterator[Problem]:
    """`up` reaches every node over SSH. Who works from a machine in the nodes' network names that one."""
    for name, site, firewall in _described(outline):
        if isinstance(site, OnpremSite) and not firewall.operators_from:
            what = "nobody is said to come in over SSH to every node, as `up` does"
            remedy = f"Name the network of your own machine, or {outline.networks[name]} if it stands there"
            yield Problem(site_field(name, "firewall.operators_from"), what, remedy)


@rule(
    "CW1771",
    "A firewall on the nodes of a cloud",
    source="security groups of Amazon EC2, VPC firewall rules of Google Cloud: docs/aws.md, docs/gcp.md",
    example="site: {provider: aws, firewall: {operators_from: 10.0.0.0/8}}",
)
def firewall_in_a_cloud(outline: Outline) -> Iterator[Problem]:
    """What reaches a machine there is decided before it, by the provider's rules that come from the plan."""
    for name, site, _ in _described(outline):
        if isinstance(site, AwsSite | GcpSite):
            kind = "security groups" if isinstance(site, AwsSite) else "the firewall rules of its network"
            what = f"{kind} keep this site, and are made from the plan"
            yield Problem(site_field(name, "firewall"), what, "Leave it out; `ssh_from` says who comes in")


@rule(
    "CW1772",
    "Ports of a pool that is not at the site",
    source="clusterwright: a site's firewall is that of its own nodes",
    example="site: {firewall: {allow: {front: {443/tcp: 10.0.0.0/8}}}}, without a pool 'front'",
)
def unknown_pool(outline: Outline) -> Iterator[Problem]:
    """Nothing would be let in, and nobody would know why."""
    for name, _, firewall in _described(outline):
        own = [pool for pool, home in outline.site_names.items() if home == name]
        for pool in firewall.allow:
            if pool not in own:
                what = f"there is no pool '{pool}' at this site"
                remedy = f"Name one of: {', '.join(own)}"
                yield Problem(site_field(name, f"firewall.allow.{pool}"), what, remedy)


@rule(
    "CW1773",
    "A port twice",
    source="clusterwright: rules are joined, so the wider one would hold",
    example="firewall: {allow: {head: {8443/tcp: 10.1.0.0/16, 8000-9000/tcp: 10.0.0.0/8}}}",
)
def port_twice(outline: Outline) -> Iterator[Problem]:
    """Whoever wrote the narrower one believes that it holds."""
    for name, _, firewall in _described(outline):
        for pool, allowed in firewall.allow.items():
            for one, other in combinations(allowed, 2):
                if _overlap(one, other):
                    what = f"{one} and {other} have ports in common"
                    place = site_field(name, f"firewall.allow.{pool}.{other}")
                    yield Problem(place, what, "Write each port once, with every network that reaches it")


def _overlap(one: str, other: str) -> bool:
    (first, last), (start, end) = _range(one), _range(other)
    return one.rpartition("/")[2] == other.rpartition("/")[2] and first <= end and start <= last


def _range(ports: str) -> tuple[int, int]:
    first, _, last = ports.partition("/")[0].partition("-")
    return int(first), int(last or first)


@rule(
    "CW1774",
    "A firewall that is only observed",
    source="clusterwright: the rules are of the whole cluster, and are placed or not",
    example="pools: {gpu: {ansible_roles: {firewall: observe}}}",
)
def observed_firewall(outline: Outline) -> Iterator[Problem]:
    """Rules that are not loaded differ in everything: telling that helps nobody who keeps their own."""
    for name, pool in outline.spec.pools.items():
        if pool.ansible_roles.get("firewall") == "observe":
            place = f"pools.{name}.ansible_roles.firewall"
            yield Problem(place, "a firewall is kept, or not", "Write `skip`: these nodes keep their own")


@rule(
    "CW1775",
    "Servers of a file system that the firewall keeps out",
    source="Lustre manual: servers open connections to clients (TCP 988); BeeGFS: the client's UDP port 8004;"
    " WEKA: ports 14000-14100 both ways",
    example="site: {firewall: {trusted: 10.8.0.0/24}}, and a share of a BeeGFS at 10.9.0.5",
    severity=Severity.WARNING,
)
def servers_kept_out(outline: Outline) -> Iterator[Problem]:
    """These servers call their clients. One that is written by its name and not its address is not judged."""
    inside = [network for network in outline.networks.values() if network is not None]
    for name, _, firewall in _described(outline):
        let_in = [*inside, *map(IPv4Network, firewall.trusted)]
        for mount, share in mounted_shares(outline.spec).items():
            for server in _servers(share):
                if not any(server in network for network in let_in):
                    what = f"{mount} is served by {server}, which calls its clients and is not let in"
                    place = site_field(name, "firewall.trusted")
                    yield Problem(place, what, "Name the network of the servers")


def _servers(share: object) -> Iterator[IPv4Address]:
    named: list[str] = []
    if isinstance(share, Lustre):
        nids = (nid for server in share.mgs for nid in server.split(","))
        named = [nid.partition("@")[0] for nid in nids if nid.partition("@")[2].startswith("tcp")]
    elif isinstance(share, BeeGfs):
        named = [share.management]
    elif isinstance(share, Weka):
        named = list(share.backends)
    for text in named:
        try:
            yield IPv4Address(text)
        except AddressValueError:
            continue
