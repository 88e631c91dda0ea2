"""The plan of a site on Google Cloud. Frozen, and without anything that only Google gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clusterwright.plan.gcp.scheduling import Scheduling
from clusterwright.plan.interfaces import Interface
from clusterwright.plan.kept import Kept
from clusterwright.spec.google_storage import Filestore, ManagedLustre
from clusterwright.spec.site import GcpVpc

LABEL = "clusterwright-cluster"
"""Of everything: its value is the cluster's name."""


@dataclass(frozen=True, slots=True)
class Vpc:
    """A VPC network that is made. Interfaces of one machine are in different ones, RDMA's in one."""

    name: str
    """`host-0`, `host-1`, `gpu-0` …, `rdma`, `rdma-metal`."""
    kind: str
    mtu: int
    profile: str | None
    """Network profile that makes it one for RDMA."""
    subnets: tuple[str, ...]
    """Their ranges, one for each card in it; none where Google makes the subnet."""

    @property
    def carries_rdma(self) -> bool:
        return self.profile is not None


@dataclass(frozen=True, slots=True)
class PlacementPolicy:
    """Machines that are made close together."""

    name: str
    gpu_topology: str | None
    """NVLink domain that they are made in, `1x72`; None without one."""
    max_distance: int | None = None
    """How far they may be from each other; None for as close as there is room."""
    of_group: bool = False
    """Whether a group of machines has it, as a workload policy, and not each machine."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the cluster may cost a month, in the currency of its billing account."""

    account: str
    amount: int
    email: str


@dataclass(frozen=True, slots=True)
class Machine:
    """One node as Compute Engine is asked for it."""

    name: str
    pool: str
    roles: tuple[str, ...]
    kind: str
    address: str
    """Of its first interface; the others get theirs from their subnets."""
    image: str
    disk: str
    """Disk type."""
    disk_gib: int
    interfaces: tuple[Interface, ...]
    policy: str | None
    """Name of its placement policy."""
    scheduling: Scheduling
    public: bool
    shielded: bool
    """Whether the firmware is measured: virtual machines with x86 processors."""
    kept: Kept | None
    """What is on a disk that outlives it."""
    group: str | None = None
    """Managed instance group that keeps it; None for a machine with a resource of its own."""


@dataclass(frozen=True, slots=True)
class GcpPlan:
    """Everything that is made for a cluster on Google Cloud."""

    cluster: str
    domain: str
    project: str
    region: str
    zone: str
    network: str
    """Range of the nodes' first interfaces."""
    vpcs: tuple[Vpc, ...]
    existing: GcpVpc | None
    """In place of `host-0`."""
    services: str | None
    """Range that Google's own services take addresses of; None where none is used."""
    machines: tuple[Machine, ...]
    policies: tuple[PlacementPolicy, ...]
    shares: Mapping[str, Filestore | ManagedLustre]
    """By mount point."""
    buckets: Mapping[str, bool]
    """Buckets that nodes mount, and whether they write there."""
    budget: Budget | None
    kms_key: str | None
    """What is encrypted with it instead of Google's keys."""
    snapshot_days: int
    """For how long snapshots of kept disks stay; 0 for none."""
    ssh_from: tuple[str, ...]
    os_login: bool
    labels: Mapping[str, str]
    """Of everything."""

    @property
    def single(self) -> tuple[Machine, ...]:
        """Machines with resources of their own."""
        return tuple(machine for machine in self.machines if machine.group is None)

    @property
    def groups(self) -> Mapping[str, tuple[Machine, ...]]:
        """Members by the name of their group."""
        found: dict[str, list[Machine]] = {}
        for machine in self.machines:
            if machine.group is not None:
                found.setdefault(machine.group, []).append(machine)
        return {name: tuple(members) for name, members in found.items()}

    def with_role(self, role: str) -> tuple[Machine, ...]:
        return tuple(machine for machine in self.machines if role in machine.roles)
