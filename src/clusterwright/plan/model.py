"""The plan: every node with its name, addresses, hardware and place. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from clusterwright.catalog.hardware import Hardware
from clusterwright.plan.cost import Cost
from clusterwright.plan.shares import seen_from

if TYPE_CHECKING:
    from clusterwright.plan.software.lock import Lock, Source
    from clusterwright.spec.cluster import ClusterSpec


@dataclass(frozen=True, slots=True)
class Mirror:
    """One repository that has every package of the lock, in place of the vendors' own."""

    url: str
    suite: str
    components: tuple[str, ...]
    key: str
    """Path of the public key that signs it, absolute or beside the description."""
    beside: Mapping[str, Mapping[str, Source]] = field(default_factory=dict)
    """What no repository has, by its name and by architecture: a lab plays the archives of vendors, too."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What only the edge knows of a site, handed to the plan so that the plan stays pure."""

    network: str | None = None
    """Network in CIDR form that the provider picked, when the description names none."""
    cgroup_plugin: str = "autodetect"
    """Slurm's CgroupPlugin: `cgroup/v1`, `cgroup/v2` or `autodetect`."""
    cgroup_mountpoint: str | None = None
    """Slurm's CgroupMountpoint, where it is not /sys/fs/cgroup."""
    simulated: bool = False
    """Nodes only play their machine type: Slurm needs `config_overrides`."""
    mirror: Mirror | None = None
    """Where this site's nodes get the packages of the lock, when not from their vendors."""


@dataclass(frozen=True, slots=True)
class PlannedSite:
    """A site with the network that its nodes live in."""

    name: str
    provider: str
    network: str
    place: str
    """Region and zone, or empty."""
    ground: Ground


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """One node. `switches` is the path from the leaf up; empty where the fabric is flat."""

    name: str
    pool: str
    roles: tuple[str, ...]
    site: str
    machine: str
    address: str
    """Empty for a member of a group that no machine has the name of yet."""
    rack: str | None = None
    block: str | None = None
    switches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedPartition:
    """A Slurm partition and the node-set expression of its nodes, folded for slurm.conf."""

    name: str
    nodes: str
    default: bool
    max_time: int | None
    """Seconds, or None for no limit."""
    default_time: int | None
    priority: int
    exclusive: bool


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """Everything that is known before anything is made. Nodes in the order of the description."""

    spec: ClusterSpec
    sites: tuple[PlannedSite, ...]
    hardware: Mapping[str, Hardware]
    """By machine type, only those in use."""
    nodes: tuple[PlannedNode, ...]
    partitions: tuple[PlannedPartition, ...]
    slurm_release: str
    slurm_source: str
    """`distribution` or `repository`."""
    lock: Lock
    """The software of every pool."""
    cost: Cost = field(default_factory=Cost)
    """Of machines that clouds make."""
    images: Mapping[str, str] = field(default_factory=dict)
    """Node → digest of the image that its software makes, where a description names a built one."""
    rehearsal_of: tuple[str, ...] = field(default=())
    """Providers that this plan plays in the lab; empty when it is not a rehearsal."""

    def at(self, site: str) -> ClusterPlan:
        """The part of one of its sites, as whoever makes machines there sees it."""
        planned = tuple(one for one in self.sites if one.name == site)
        nodes = tuple(node for node in self.nodes if node.site == site)
        return replace(self, spec=seen_from(self.spec, site), sites=planned, nodes=nodes)

    def with_role(self, role: str) -> tuple[PlannedNode, ...]:
        return tuple(node for node in self.nodes if role in node.roles)
