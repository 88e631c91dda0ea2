"""Lustre, BeeGFS and CephFS: what their clients need of machines, networks and secrets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.lustre import CARDS, network_type
from clusterwright.catalog.software import accepts, hardware_rules, releases
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.plan.shares import mounted_shares
from clusterwright.spec.parallel import PARALLEL, BeeGfs, Lustre
from clusterwright.spec.pool import Role
from clusterwright.spec.storage import Share

_COMPONENTS = {"lustre": "lustre", "beegfs": "beegfs", "cephfs": "ceph"}


def _lustre(outline: Outline) -> Mapping[str, Lustre]:
    return {
        f"storage.shares.{mount}": share
        for mount, share in outline.spec.storage.shares.items()
        if isinstance(share, Lustre)
    }


def _networks(share: Lustre) -> set[str]:
    """LNet networks of the management server."""
    return {network_type(nid.partition("@")[2]) for entry in share.mgs for nid in entry.split(",")}


@rule(
    "CW1281",
    "No client package is known",
    source="the software catalogue (catalog/data/software/releases.csv)",
    example="software: {distribution: debian-13}, storage: {shares: {/scratch: {kind: lustre, …}}}",
)
def no_client_package(outline: Outline) -> Iterator[Problem]:
    """Without a package of the client for the distribution nothing mounts. A lab is left to the lock: in a
    rehearsal it is the original's, on another distribution."""
    if any(site.provider == "lab" for site in outline.sites.values()):
        return
    distribution = outline.spec.software.distribution
    places = {f"provider:{site.provider}" for site in outline.sites.values()}
    for mount, share in mounted_shares(outline.spec).items():
        component = _COMPONENTS.get(share.kind)
        having = _distributions(component, places) if component else set()
        if component and distribution not in having:
            what = f"no package of {component}'s client is known for {distribution}"
            remedy = f"Take one of: {', '.join(sorted(having))}"
            yield Problem(f"storage.shares.{mount}.kind", what, remedy)


def _distributions(component: str, places: Collection[str]) -> set[str]:
    """Where a release exists that machines of these places may have: FSx's client is Amazon's alone."""
    narrowed = [row for row in hardware_rules() if row.component == component and row.trait in places]
    return {
        name
        for release in releases(component)
        if all(accepts(row.accepts, release.version) for row in narrowed)
        for name in release.distributions
    }


@rule(
    "CW1282",
    "LNet over cards that are not there",
    source="Lustre operations manual, LNet: o2ib runs over InfiniBand and RoCE; EFA is a network of its own",
    example="pools: {gpu: {machine: rtx4090-workstation}}, …: {kind: lustre, networks: {o2ib: [ib0]}}",
)
def lnet_without_cards(outline: Outline) -> Iterator[Problem]:
    """LNet does not come up on such a node, and the file system is not mounted there."""
    for field, share in _lustre(outline).items():
        types = {name: network_type(name) for name in share.networks}
        for network, kind in types.items():
            kinds = CARDS.get(kind, frozenset())
            for pool in outline.spec.pools if kinds and "tcp" not in types.values() else ():
                hardware = outline.hardware[pool]
                cards = {nic.kind for nic in hardware.nics} if hardware else kinds
                if _mounts(outline, pool) and not cards & kinds:
                    what = f"the machines of pool '{pool}' have no card that {network} runs over"
                    remedy = "Add a `tcp` network that the servers are on, for pools like this one"
                    yield Problem(f"{field}.networks.{network}", what, remedy)


def _mounts(outline: Outline, pool: str) -> bool:
    return any(isinstance(share, PARALLEL) for share in outline.mounted(pool).values())


@rule(
    "CW1283",
    "An LNet network without interfaces",
    source="Lustre operations manual, LNet: a network is configured with its interfaces",
    example="/scratch: {kind: lustre, mgs: 10.0.0.5@o2ib, file_system: scratch}",
)
def network_without_interfaces(outline: Outline) -> Iterator[Problem]:
    """A tcp network is found by addresses, EFA by its cards; what else there is has the site's names."""
    for field, share in _lustre(outline).items():
        named = share.networks or {network: [] for network in sorted(_networks(share))}
        for network, interfaces in named.items():
            if not interfaces and network_type(network) not in ("tcp", "efa"):
                what = f"the LNet network '{network}' has no interface"
                remedy = f"Name the rails: `networks: {{{network}: [ib0]}}`"
                yield Problem(f"{field}.networks" if share.networks else f"{field}.mgs", what, remedy)


@rule(
    "CW1284",
    "The management server is on another network",
    source="Lustre operations manual, LNet: a node reaches NIDs of networks that it is on",
    example="/scratch: {kind: lustre, mgs: 10.0.0.5@o2ib, networks: {tcp: [eth0]}, …}",
)
def server_on_another_network(outline: Outline) -> Iterator[Problem]:
    """Without an LNet router, which is not configured here, the mount finds no server."""
    for field, share in _lustre(outline).items():
        own = {network_type(network) for network in share.networks}
        if own and not own & _networks(share):
            theirs, ours = ", ".join(sorted(_networks(share))), ", ".join(sorted(own))
            what = f"the server is on {theirs}, nodes on {ours}"
            yield Problem(f"{field}.mgs", what, "Give nodes a network that the server is on")


@rule(
    "CW1285",
    "A home without locks",
    source="mount.lustre(8): without `flock` or `localflock` file locks fail",
    example="/home: {kind: lustre, options: noatime, …}",
    severity=Severity.WARNING,
)
def home_without_locks(outline: Outline) -> Iterator[Problem]:
    """Editors, package managers and databases in people's homes lock files."""
    for field, share in _lustre(outline).items():
        if field == "storage.shares./home" and not {"flock", "localflock"} & set(share.options.split(",")):
            yield Problem(f"{field}.options", "file locks fail in people's homes", "Add `flock`")


@rule(
    "CW1286",
    "BeeGFS without authentication",
    source="BeeGFS documentation 8, connection authentication",
    example="/scratch: {kind: beegfs, management: bee1}",
    severity=Severity.WARNING,
)
def beegfs_without_secret(outline: Outline) -> Iterator[Problem]:
    """Servers refuse clients without the shared secret, unless authentication is switched off on them; then
    anybody in the network may act as any user."""
    for mount, share in outline.spec.storage.shares.items():
        if isinstance(share, BeeGfs) and share.connection_auth is None:
            what = f"'{mount}' has no `connection_auth`"
            yield Problem(f"storage.shares.{mount}", what, "Name the file with the servers' secret")


@rule(
    "CW1287",
    "More throughput than the cards carry",
    source="the machine type's network cards (catalog/data/machines.csv)",
    example="/scratch: {kind: lustre, throughput: 90 GB/s, networks: {o2ib: [ib0]}, …} on cards of 400 Gb/s",
)
def more_than_the_cards(outline: Outline) -> Iterator[Problem]:
    """Acceptance measures it, and no node could ever pass."""
    for mount, share in outline.spec.storage.shares.items():
        for pool in outline.spec.pools if isinstance(share, PARALLEL) and share.throughput else ():
            hardware, rate = outline.hardware[pool], getattr(share, "throughput", 0)
            if hardware is None or Role.COMPUTE not in outline.spec.pools[pool].roles:
                continue
            carried = _carried(share, hardware)
            if carried and rate > carried:
                what = f"{rate / 1e9:g} GB/s, and the cards of pool '{pool}' carry {carried / 1e9:g}"
                yield Problem(f"storage.shares.{mount}.throughput", what, "State what one node reaches")


def _carried(share: Share, hardware: Hardware) -> int:
    """Bytes a second of the cards that a share is reached over: of Lustre's rails, else of all."""
    networks = share.networks if isinstance(share, Lustre) else {}
    rails = {network_type(name): len(interfaces) for name, interfaces in networks.items() if interfaces}
    if len(rails) == 1:
        [(network, count)] = rails.items()
        cards = sorted(
            (nic.gbps for nic in hardware.nics if nic.kind in CARDS.get(network, ())), reverse=True
        )
        if cards:
            return sum(cards[:count]) * 10**9 // 8
    return sum(nic.gbps for nic in hardware.nics) * 10**9 // 8


@rule(
    "CW1288",
    "A network in two ways",
    source="Lustre operations manual, LNet: one configuration for all file systems of a node",
    example="/a: {kind: lustre, networks: {o2ib: [ib0]}, …}, /b: {kind: lustre, networks: {o2ib: [ib1]}, …}",
)
def network_in_two_ways(outline: Outline) -> Iterator[Problem]:
    """A node has one LNet; what two shares say of the same network must be the same."""
    seen: dict[str, tuple[str, list[str]]] = {}
    for field, share in _lustre(outline).items():
        for network, interfaces in share.networks.items():
            first, said = seen.setdefault(network, (field, interfaces))
            if said != interfaces:
                what = f"'{first.removeprefix('storage.shares.')}' says {', '.join(said) or 'no interface'}"
                yield Problem(f"{field}.networks.{network}", what, "Write the same interfaces in both")
