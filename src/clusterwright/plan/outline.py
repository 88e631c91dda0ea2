"""What can be told of a description before it is checked: names, sites, machines and releases, with gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from typing import TYPE_CHECKING

from clusterwright.catalog.distributions import distribution
from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machine_catalog import MachineCatalog, MachineType
from clusterwright.catalog.machines import catalog as shipped
from clusterwright.catalog.slurm import releases
from clusterwright.plan.model import Ground
from clusterwright.plan.shares import mounted_shares, seen_from
from clusterwright.plan.subnets import node_network
from clusterwright.spec.buckets import BUCKETS
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.nodeset import MAX_NODES, expand, size
from clusterwright.spec.parallel import PARALLEL
from clusterwright.spec.pool import Pool, Role
from clusterwright.spec.site import Site
from clusterwright.spec.storage import Share

if TYPE_CHECKING:
    from clusterwright.plan.floor.model import Floor

SINGLE_SITE = "main"
"""Name of a cluster's only site."""


@dataclass(frozen=True)
class Outline:
    """A description seen through the catalog. `None` is a gap that a check reports."""

    spec: ClusterSpec
    ground: Mapping[str, Ground]
    catalog: MachineCatalog = field(default_factory=shipped)

    @cached_property
    def sites(self) -> Mapping[str, Site]:
        named = dict(self.spec.sites)
        return {SINGLE_SITE: self.spec.site, **named} if self.spec.site else named

    @cached_property
    def site_names(self) -> Mapping[str, str | None]:
        """Site of each pool."""
        only = next(iter(self.sites)) if len(self.sites) == 1 else None
        chosen = {name: pool.site or only for name, pool in self.spec.pools.items()}
        return {pool: site if site in self.sites else None for pool, site in chosen.items()}

    @cached_property
    def names(self) -> Mapping[str, tuple[str, ...] | None]:
        """Node names of each pool in their order; none are made of more nodes than any cluster holds."""
        if sum(map(self.count, self.spec.pools)) > MAX_NODES:
            return dict.fromkeys(self.spec.pools)
        return {name: _names(name, pool) for name, pool in self.spec.pools.items()}

    @cached_property
    def hardware(self) -> Mapping[str, Hardware | None]:
        """What the machines of each pool have inside."""
        return {name: kind.hardware if kind else None for name, kind in self.types.items()}

    @cached_property
    def types(self) -> Mapping[str, MachineType | None]:
        """Machine type of each pool."""
        return {name: self.catalog.types.get(pool.machine) for name, pool in self.spec.pools.items()}

    @cached_property
    def networks(self) -> Mapping[str, IPv4Network | None]:
        """Network of each site."""
        return {name: _network(self.network_text(name)) for name in self.sites}

    @cached_property
    def node_networks(self) -> Mapping[str, IPv4Network | None]:
        """The part of each site's network that nodes have their addresses in."""
        found = self.networks.items()
        return {name: network and node_network(self.sites[name], network) for name, network in found}

    @cached_property
    def floors(self) -> tuple[Floor, ...]:
        """What stands where, by site of own machines."""
        from clusterwright.plan.floor.layout import floors

        return tuple(floors(self))

    def network_text(self, site: str) -> str:
        """The site's own network, else the one that its provider picked, else a free default."""
        ground = self.ground.get(site, Ground())
        return self.sites[site].network or ground.network or default_network(list(self.sites).index(site))

    def count(self, pool: str) -> int:
        """How many nodes a pool asks for, told without making their names."""
        wanted = self.spec.pools[pool]
        return size(wanted.nodes) if wanted.nodes is not None else wanted.count or 1

    def watts(self, pool: str) -> int | None:
        """The most that one machine of a pool draws: as the site says, else as the catalog does."""
        racks, hardware = self.spec.pools[pool].racks, self.hardware[pool]
        return (racks.power if racks else None) or (hardware.power_watts if hardware else None)

    def capacity(self, pool: str) -> str:
        """How a pool's machines are got."""
        wanted = self.spec.pools[pool].capacity
        return wanted.model if wanted else "on-demand"

    def pools_with(self, role: Role) -> Iterator[tuple[str, Pool]]:
        return ((name, pool) for name, pool in self.spec.pools.items() if role in pool.roles)

    def whole_nodes_only(self, pool: str) -> list[str]:
        """The partitions of a pool that give a job all of a node."""
        names = self.spec.pools[pool].partitions or [pool]
        settings = self.spec.scheduler.partitions
        return [name for name in names if name in settings and settings[name].exclusive]

    @cached_property
    def shares(self) -> tuple[tuple[str, str, Share], ...]:
        """Every share of the cluster and of its sites: field, mount point and share."""
        own = (
            (f"sites.{name}.shares.{mount}", mount, share)
            for name, site in self.spec.sites.items()
            for mount, share in site.shares.items()
        )
        common = ((f"storage.shares.{mount}", mount, one) for mount, one in self.spec.storage.shares.items())
        return tuple((field, mount, share) for field, mount, share in (*common, *own) if share is not None)

    def mounted(self, pool: str) -> Mapping[str, Share]:
        """The shares that a pool's nodes mount: some file systems are only for where people and jobs are."""
        jobs = bool({Role.COMPUTE, Role.LOGIN} & set(self.spec.pools[pool].roles))
        shares = mounted_shares(seen_from(self.spec, self.site_names[pool] or ""))
        return {
            path: share
            for path, share in shares.items()
            if jobs or not isinstance(share, (*PARALLEL, *BUCKETS))
        }

    @cached_property
    def slurm_release(self) -> str | None:
        """The release that is asked for, else the distribution's own, if it is one that is supported."""
        carried = distribution(self.spec.software.distribution).slurm_release
        release = self.spec.scheduler.release or carried
        return release if release in releases() else None

    @property
    def slurm_source(self) -> str:
        return "repository" if self.spec.software.slurm_repository else "distribution"


def default_network(site: int) -> str:
    """10.66.0.0/16 for the first site, 10.67.0.0/16 for the next …: room for 65,533 nodes each."""
    return f"10.{66 + site % 64}.0.0/16"


def _names(name: str, pool: Pool) -> tuple[str, ...] | None:
    if pool.nodes is not None:
        try:
            return tuple(expand(pool.nodes))
        except ValueError:
            return None
    if pool.count is None:
        return (name,)
    return tuple(f"{name}-{number:03d}" for number in range(1, pool.count + 1))


def _network(text: str) -> IPv4Network | None:
    try:
        return IPv4Network(text)
    except (AddressValueError, NetmaskValueError, ValueError):
        return None
