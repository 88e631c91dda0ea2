"""From a description to its plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network

from clusterwright.catalog.choice import CLOUDS
from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machine_catalog import MachineCatalog
from clusterwright.catalog.machines import catalog as shipped
from clusterwright.catalog.subnets import reserved
from clusterwright.finding import Refused, Where, refuse
from clusterwright.plan.address import assign, room
from clusterwright.plan.model import ClusterPlan, Ground, PlannedNode, PlannedPartition, PlannedSite
from clusterwright.plan.outline import Outline
from clusterwright.plan.place import Layout
from clusterwright.plan.pricing import cost
from clusterwright.plan.slots import slots
from clusterwright.plan.software.lock import Lock
from clusterwright.plan.wiring.design import Design, Unbuildable, design
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.nodeset import fold
from clusterwright.spec.pool import Role
from clusterwright.spec.scheduler import Partition
from clusterwright.spec.site import OnpremSite, Site

PLANNED = {"gcp"}
"""Clouds whose groups make each member with the address that is planned for it."""


def plan(
    spec: ClusterSpec,
    *,
    ground: Mapping[str, Ground] | None = None,
    previous: Mapping[str, str] | None = None,
    rehearsal_of: tuple[str, ...] = (),
    lock: Lock | None = None,
    catalog: MachineCatalog | None = None,
) -> ClusterPlan:
    """Expand a description that passed its checks.

    `ground` is by site name (`main` for a cluster with one site); `previous` gives the addresses that nodes
    have already; members of groups have no other. Without a `lock` there is no software but the
    distribution's. `catalog`: other machine types than those that come with clusterwright. A description that
    cannot be expanded is refused as CW1200; the checks say why and where.
    """
    outline = Outline(spec, ground or {}, catalog or shipped())
    release = outline.slurm_release
    if release is None:
        raise _impossible("software", "there is no Slurm release for it")
    nodes = tuple(_nodes(outline, previous or {}))
    return ClusterPlan(
        spec=spec,
        sites=tuple(_site(outline, name, site) for name, site in outline.sites.items()),
        hardware={row.machine: row for row in sorted(_machines(outline), key=lambda row: row.machine)},
        nodes=nodes,
        partitions=tuple(_partitions(outline)),
        slurm_release=release,
        slurm_source=outline.slurm_source,
        lock=lock or Lock(spec.software.distribution, {}, {}, {}),
        cost=cost(outline),
        rehearsal_of=rehearsal_of,
    )


def _impossible(path: str, what: str) -> Refused:
    remedy = "Run `clusterwright validate` on the description"
    return refuse("CW1200", Where(path=path), f"this cannot be planned: {what}", remedy)


def _site(outline: Outline, name: str, site: Site) -> PlannedSite:
    place = "/".join(getattr(site, key) for key in ("region", "zone") if hasattr(site, key))
    network = outline.network_text(name)
    return PlannedSite(name, site.provider, network, place, outline.ground.get(name, Ground()))


def _machines(outline: Outline) -> Iterator[Hardware]:
    for pool, row in outline.hardware.items():
        if row is None:
            raise _impossible(f"pools.{pool}.machine", "the machine type is unknown")
        yield row


def _nodes(outline: Outline, previous: Mapping[str, str]) -> Iterator[PlannedNode]:
    addresses, switches = _addresses(outline, previous), _design(outline)
    for pool, description in outline.spec.pools.items():
        site = outline.site_names[pool] or ""
        spine = "spine" if len(outline.sites) == 1 else f"spine-{site}"
        layout = Layout(pool, description, outline.spec.fabric, spine, switches)
        roles = tuple(role.value for role in Role if role in description.roles)
        for position, name in enumerate(outline.names[pool] or ()):
            place = layout.at(position)
            yield PlannedNode(
                name=name,
                pool=pool,
                roles=roles,
                site=site,
                machine=description.machine,
                address=addresses[name],
                rack=place.rack,
                block=place.block,
                switches=place.switches,
            )


def _design(outline: Outline) -> Design | None:
    try:
        return design(outline)
    except Unbuildable as problem:
        raise _impossible(f"fabric.{problem.field}", str(problem)) from problem


def _addresses(outline: Outline, previous: Mapping[str, str]) -> dict[str, str]:
    by_site: dict[str, dict[str, Sequence[str]]] = {}
    for pool, names in outline.names.items():
        site = outline.site_names[pool]
        if names is None or site is None:
            raise _impossible(f"pools.{pool}", "its nodes or its site are not known")
        by_site.setdefault(site, {})[pool] = names
    addresses: dict[str, str] = {}
    for site, pools in by_site.items():
        provider = outline.sites[site].provider
        kept, members = reserved(provider), [name for names in pools.values() for name in names]
        network = _network(outline, site, len(members))
        own = slots(pools, network, kept) if provider in CLOUDS else {}
        known = {name: address for name, address in previous.items() if address}
        addresses |= assign(members, network, kept, _held({**own, **known}, outline.sites[site]))
        grouped = [pool for pool in pools if outline.spec.pools[pool].group and provider not in PLANNED]
        addresses |= {name: previous.get(name, "") for pool in grouped for name in pools[pool]}
    if len(addresses) != sum(len(names or ()) for names in outline.names.values()):
        raise _impossible("pools", "two nodes have one name")
    return addresses


def _held(before: Mapping[str, str], site: Site) -> dict[str, str]:
    """The addresses that nodes have; one that is written down is its node's, whoever had it."""
    file = site.known_machines if isinstance(site, OnpremSite) else None
    written = {row.node: row.address for row in file.rows if row.address} if file else {}
    taken = set(written.values())
    return {**{name: address for name, address in before.items() if address not in taken}, **written}


def _network(outline: Outline, site: str, nodes: int) -> IPv4Network:
    network = outline.node_networks[site]
    if network is None or room(network, reserved(outline.sites[site].provider)) < nodes:
        raise _impossible("site", f"{outline.network_text(site)} has no room for {nodes} nodes")
    return network


def _partitions(outline: Outline) -> Iterator[PlannedPartition]:
    members: dict[str, list[str]] = {}
    for pool, description in outline.pools_with(Role.COMPUTE):
        for partition in description.partitions or [pool]:
            members.setdefault(partition, []).extend(outline.names[pool] or ())
    settings = outline.spec.scheduler.partitions
    chosen = next((name for name in members if name in settings and settings[name].default), None)
    default = chosen or next(iter(members), None)
    for name, nodes in members.items():
        wishes = settings.get(name, Partition())
        yield PlannedPartition(
            name=name,
            nodes=fold(nodes),
            default=name == default,
            max_time=wishes.max_time,
            default_time=wishes.default_time,
            priority=wishes.priority,
            exclusive=wishes.exclusive,
        )
