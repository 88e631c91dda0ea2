"""Own machines and a site in a cloud: how they are joined, and what would go over that."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address

from clusterwright.catalog.lustre import network_type
from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.images import is_built
from clusterwright.plan.linked import Linked, linked
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import seen_from
from clusterwright.spec.aws_storage import AMAZON
from clusterwright.spec.buckets import BUCKETS
from clusterwright.spec.parallel import Lustre
from clusterwright.spec.pool import Role
from clusterwright.spec.scheduler import Partition
from clusterwright.spec.site import AwsSite, GcpSite, LabSite, OnpremSite
from clusterwright.spec.storage import Served, Share

_LONGEST = 40
"""Of a cluster's name."""
_SERVERS = ("server", "mgs", "management", "monitors", "backends")


def _has_own(outline: Outline) -> bool:
    return any(isinstance(site, OnpremSite) for site in outline.sites.values())


def _pools_at(outline: Outline, site: str) -> list[str]:
    return [pool for pool, home in outline.site_names.items() if home == site]


@rule(
    "CW1800",
    "Nothing joins a site on AWS to own machines",
    source="clusterwright: nodes of all sites talk to one slurmctld, and `up` reaches each over SSH",
    example="sites: {hall: {provider: onprem, …}, amazon: {provider: aws, …}}, without `link`",
)
def no_link(outline: Outline) -> Iterator[Problem]:
    """Its nodes would come up, find no controller, and be paid for."""
    for name, site in outline.sites.items():
        if isinstance(site, AwsSite) and site.link is None and _has_own(outline):
            what = "nobody says which way leads from this site to the others"
            remedy = "Add `link: {gateway: tgw-…}`, the gateway that your network's people give you"
            yield Problem(site_field(name, "provider"), what, remedy)


@rule(
    "CW1801",
    "What cannot be beside own machines",
    source="clusterwright: own machines are pushed to, at planned addresses; docs/hybrid.md",
    example="sites: {hall: {provider: onprem}, amazon: {provider: aws, link: …}}, converge: pull",
)
def not_beside_own(outline: Outline) -> Iterator[Problem]:
    """One cluster converges in one way. Nodes are pushed to at their addresses: one that is not planned is
    not found, and a machine that waits for a bundle waits in vain."""
    found = linked(outline.spec)
    if found is None:
        several = [name for name, site in outline.sites.items() if isinstance(site, AwsSite) and site.link]
        for name in several[1:] if _has_own(outline) else ():
            what = f"'{several[0]}' is a site on AWS already, and a stack makes the machines of one"
            yield Problem(site_field(name, "provider"), what, "Keep one of them")
        return
    if (length := len(outline.spec.cluster) + 1 + len(found.name)) > _LONGEST:
        what = f"its stack is named after cluster and site, with {length} characters of {_LONGEST} at most"
        yield Problem(site_field(found.name, "provider"), what, "Shorten the name of the site")
    if outline.spec.converge == "pull":
        what = "own machines find no store to pull from"
        yield Problem("converge", what, "Leave it out: nodes of all sites are pushed to")
    for pool in _pools_at(outline, found.name):
        wanted = outline.spec.pools[pool]
        if wanted.group:
            what = "members of a group have addresses that nobody knows beforehand"
            yield Problem(f"pools.{pool}.group", what, "Leave it out, or make a cluster of its own there")
        if is_built(wanted):
            what = "images are built of machines that pull, and these are pushed to"
            yield Problem(f"pools.{pool}.image", what, "Name an image of your own with `ami-…`")


@rule(
    "CW1802",
    "A site on Google Cloud beside own machines",
    source="clusterwright: a link is described and made on AWS only; docs/hybrid.md",
    example="sites: {hall: {provider: onprem, …}, google: {provider: gcp, …}}",
    severity=Severity.WARNING,
)
def google_beside_own(outline: Outline) -> Iterator[Problem]:
    """It can be planned and rehearsed. No stack makes its machines, because nothing would join them."""
    for name, site in outline.sites.items():
        if isinstance(site, GcpSite) and _has_own(outline):
            what = "nothing joins a site on Google Cloud to own machines yet"
            yield Problem(
                site_field(name, "provider"), what, "Rehearse it, or make a cluster of its own there"
            )


@rule(
    "CW1803",
    "A link that leads nowhere",
    source="Amazon VPC User Guide: a VPC is attached to a transit gateway or a virtual private gateway",
    example="site: {provider: aws, link: {gateway: tgw-…}, …}, without any other site",
)
def link_of_no_use(outline: Outline) -> Iterator[Problem]:
    """A network that is made here is attached to the gateway; in one that exists that is done."""
    for name, site in outline.sites.items():
        if not isinstance(site, AwsSite) or site.link is None:
            continue
        if not _has_own(outline):
            what = "no site of this cluster has machines of one's own"
            yield Problem(site_field(name, "link"), what, "Leave `link` out")
        elif site.vpc is None and site.link.gateway is None:
            remedy = "Add `gateway`: the ID of the transit gateway or virtual private gateway"
            yield Problem(site_field(name, "link"), "nobody says what the network is attached to", remedy)
        elif site.vpc is not None and site.link.gateway is not None:
            what = f"{site.vpc.id} exists, and has its routes"
            yield Problem(site_field(name, "link.gateway"), what, "Leave `gateway` out")


@rule(
    "CW1804",
    "The controller at the far end of the link",
    source="slurm.conf(5), SlurmdTimeout: nodes that slurmctld does not hear of are down, and their jobs end",
    example="pools: {head: {roles: controller, site: amazon, …}, gpu: {roles: compute, site: hall, …}}",
    severity=Severity.WARNING,
)
def controller_far_away(outline: Outline) -> Iterator[Problem]:
    """When the link is down, the machines that are always there have no scheduler."""
    found = linked(outline.spec)
    own = [name for name, _ in outline.pools_with(Role.COMPUTE) if found and not _is_at(outline, name, found)]
    for name, _ in outline.pools_with(Role.CONTROLLER):
        if found and own and _is_at(outline, name, found):
            what = f"own machines ({', '.join(own)}) are scheduled from '{found.name}', over the link"
            yield Problem(f"pools.{name}.site", what, "Put the controller beside the own machines")


def _is_at(outline: Outline, pool: str, found: Linked) -> bool:
    return outline.site_names[pool] == found.name


@rule(
    "CW1805",
    "A way in to a site without a door",
    source="clusterwright: people come in at login nodes, at the controller where there is none",
    example="sites: {amazon: {provider: aws, link: …, ssh_from: [192.0.2.0/24]}}, with compute nodes only",
)
def way_in_without_a_door(outline: Outline) -> Iterator[Problem]:
    """A load balancer with nobody behind it is paid for, and a public address is no help to nodes that are
    reached over the link."""
    found = linked(outline.spec)
    if found is None:
        return
    roles = {role for pool in _pools_at(outline, found.name) for role in outline.spec.pools[pool].roles}
    if not roles & {Role.LOGIN, Role.CONTROLLER}:
        for key in ("ssh_from", "session_manager"):
            if getattr(found.site, key):
                what = "no login node and no controller is at this site"
                yield Problem(
                    site_field(found.name, key), what, f"Leave `{key}` out: people log in elsewhere"
                )


@rule(
    "CW1806",
    "Files that are read over the link",
    source="clusterwright: the path of the data, from the description",
    example="sites: {amazon: {provider: aws, link: …}}, storage: {shares: {/home: {kind: served}}}",
    severity=Severity.WARNING,
)
def files_over_the_link(outline: Outline) -> Iterator[Problem]:
    """All nodes there share what the link carries, each access waits for the way there and back, and when it
    is down, so are the mounts and whatever reads them."""
    for found, field, mount, server in _over_the_link(outline):
        what = f"{mount} comes from {server}, {_way(outline, found)}"
        remedy = f"Give the site its own with `shares: {{{mount}: {{kind: efs}}}}`, or `{mount}: null`"
        yield Problem(field, what, remedy)


def _over_the_link(outline: Outline) -> Iterator[tuple[Linked, str, str, str]]:
    """Field, mount point and server of what nodes in the cloud would mount from elsewhere."""
    found = linked(outline.spec)
    if found is None or not _pools_at(outline, found.name):
        return
    for mount, share in seen_from(outline.spec, found.name).storage.shares.items():
        if isinstance(share, (*AMAZON, *BUCKETS)):
            continue
        server = _server(outline, found.name, share)
        own = mount in found.site.shares
        field = site_field(found.name, f"shares.{mount}") if own else f"storage.shares.{mount}"
        if server and not _by_fabric(share):
            yield found, field, mount, server


def _server(outline: Outline, site: str, share: Share) -> str:
    """What serves it, where that is not at this site. A name is taken for one of the other side."""
    if isinstance(share, Served):
        serving = [*outline.pools_with(Role.STORAGE)] or [*outline.pools_with(Role.CONTROLLER)]
        pool = serving[0][0] if serving else ""
        home = outline.site_names.get(pool)
        return f"{(outline.names[pool] or (pool,))[0]} at '{home}'" if home not in (None, site) else ""
    told = next((value for key in _SERVERS if (value := getattr(share, key, None))), "")
    server = told if isinstance(told, str) else told[0]
    try:
        network = outline.networks[site]
        inside = network is not None and IPv4Address(server.partition("@")[0]) in network
    except AddressValueError:
        inside = False
    return "" if inside else server


def _by_fabric(share: Share) -> bool:
    """Of a Lustre without a NID of tcp CW1282 says that no card there is in its network."""
    return isinstance(share, Lustre) and all(
        network_type(nid.partition("@")[2]) != "tcp" for entry in share.mgs for nid in entry.split(",")
    )


def _way(outline: Outline, found: Linked) -> str:
    """`over tgw-…, whose 1.25 GB/s 8 nodes of '…' share`."""
    nodes = sum(outline.count(pool) for pool in _pools_at(outline, found.name))
    link = found.link
    rate = f"{link.bandwidth / 1e9:g} GB/s" if link.bandwidth else "unknown bandwidth"
    return f"over {link.gateway or 'the link'}, whose {rate} {nodes} nodes of '{found.name}' share"


@rule(
    "CW1808",
    "A share that its site does not have",
    source="Amazon FSx and EFS are reached from a VPC; `served` comes from this cluster's own storage node",
    example="sites: {hall: {provider: onprem}, amazon: {…}}, storage: {shares: {/home: {kind: efs}}}",
)
def not_at_this_site(outline: Outline) -> Iterator[Problem]:
    """Its nodes would boot and wait for a server that is not there, or has no name there."""
    for name, site in outline.sites.items():
        for mount, share in site.shares.items() if not isinstance(site, LabSite) else ():
            field = site_field(name, f"shares.{mount}")
            if name not in outline.spec.sites or len(outline.sites) == 1:
                yield Problem(field, "the cluster has one site", "Write it as `storage.shares`")
            elif isinstance(share, Served):
                what = "a site has no server of its own: the storage node serves `storage.shares`"
                yield Problem(f"{field}.kind", what, "Name what is there: `nfs`, `efs`, `fsx-lustre` …")
        if not isinstance(site, OnpremSite) or linked(outline.spec) is None:
            continue
        for mount, share in seen_from(outline.spec, name).storage.shares.items():
            if isinstance(share, AMAZON):
                own = mount in site.shares
                field = site_field(name, f"shares.{mount}") if own else f"storage.shares.{mount}"
                what = (
                    f"'{share.kind}' is made in the cloud's network, and machines of '{name}' would mount it"
                )
                remedy = "Write it in `shares` of the site in the cloud, and here what is at this one"
                yield Problem(f"{field}.kind", what, remedy)


@rule(
    "CW1807",
    "Jobs without an end on machines that are paid by the hour",
    source="slurm.conf(5), MaxTime: no limit unless it is said",
    example="pools: {overflow: {roles: compute, site: amazon, …}}, without a `max_time` of its partition",
    severity=Severity.WARNING,
)
def no_wall_time(outline: Outline) -> Iterator[Problem]:
    """Whoever wants to give the machines of a cloud back waits for the last job on them."""
    found = linked(outline.spec)
    settings = outline.spec.scheduler.partitions
    for name, pool in outline.pools_with(Role.COMPUTE):
        if found is None or not _is_at(outline, name, found):
            continue
        for partition in pool.partitions or [name]:
            if settings.get(partition, Partition()).max_time is None:
                what = f"the partition '{partition}' has no limit, and its machines are paid by the hour"
                remedy = f"Add `scheduler: {{partitions: {{{partition}: {{max_time: 1 day}}}}}}`"
                yield Problem(f"pools.{name}.site", what, remedy)
