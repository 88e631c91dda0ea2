"""The plan of a site on AWS. Frozen, and without any ID that only AWS gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clusterwright.plan.aws.identity import Identity
from clusterwright.plan.aws.storage import FileSystem
from clusterwright.plan.interfaces import Interface
from clusterwright.plan.kept import Kept
from clusterwright.plan.subnets import Subnets
from clusterwright.spec.site import AwsVpc


@dataclass(frozen=True, slots=True)
class PlacementGroup:
    """Where the instances of a pool stand to each other."""

    name: str
    strategy: str
    """`cluster`: as close as possible; `partition`: in groups that share no rack; `spread`: no two on one."""
    partitions: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """One node as EC2 is asked for it."""

    name: str
    pool: str
    roles: tuple[str, ...]
    kind: str
    """Instance type."""
    address: str
    """Empty for one of a group."""
    image: str
    """ID of an AMI, or `resolve:ssm:` and the parameter that names one."""
    built: bool
    """Whether the image follows the machine's software."""
    disk_gib: int
    interfaces: tuple[Interface, ...]
    placement: str | None
    """Name of its placement group."""
    capacity: str
    """`on-demand`, `spot`, `reservation` or `capacity-block`."""
    reservation: str | None
    kept: Kept | None
    """What is on a volume that outlives it."""
    identity: str | None = None
    """Name of what it may ask of AWS; None: nothing."""
    grouped: bool = False
    """Whether AWS keeps it as one of a group: it has no address and no resource of its own."""


@dataclass(frozen=True, slots=True)
class Door:
    """Ports of one protocol that a network reaches on every node."""

    network: str
    protocol: str
    """`tcp`, `icmp`, or `-1` for everything."""
    ports: tuple[int, int]
    of: str
    """Who comes that way."""


@dataclass(frozen=True, slots=True)
class Join:
    """How the network is joined to those of other sites."""

    gateway: str
    """ID of the transit gateway or virtual private gateway; empty where it is not ours to route."""
    networks: tuple[str, ...]
    """What is reached through it."""
    doors: tuple[Door, ...]


@dataclass(frozen=True, slots=True)
class AwsPlan:
    """Everything that is made for a cluster on AWS."""

    cluster: str
    region: str
    zone: str
    network: str
    subnets: Subnets | None
    """To be made; None in a network that exists."""
    vpc: AwsVpc | None
    """That exists."""
    machines: tuple[Machine, ...]
    placement: tuple[PlacementGroup, ...]
    file_systems: tuple[FileSystem, ...]
    domain: str
    """Private zone of the nodes' names."""
    budget: int | None
    budget_email: str | None
    ssh_from: tuple[str, ...]
    session_manager: bool
    nat: bool
    """Whether nodes have a way out."""
    endpoints: tuple[str, ...]
    """Services with an interface endpoint."""
    identities: tuple[Identity, ...]
    permissions_boundary: str | None
    set_aside: tuple[str, ...]
    """Ranges of the nodes' subnet that no group takes an address of; none without groups."""
    root_device: str | None
    """What the distribution's images boot from; None where no source tells."""
    kms_key: str | None
    """What disks and file systems are encrypted with; None for the account's default keys."""
    snapshot_days: int
    """For how long snapshots of kept volumes stay; 0 for none."""
    tags: Mapping[str, str]
    """Of everything."""
    join: Join | None = None
    """None for a cluster that is here as a whole."""

    @property
    def single(self) -> tuple[Machine, ...]:
        """Machines with resources of their own."""
        return tuple(machine for machine in self.machines if not machine.grouped)

    @property
    def groups(self) -> Mapping[str, tuple[Machine, ...]]:
        """Members by pool."""
        found: dict[str, list[Machine]] = {}
        for machine in self.machines:
            if machine.grouped:
                found.setdefault(machine.pool, []).append(machine)
        return {pool: tuple(members) for pool, members in found.items()}

    @property
    def public(self) -> bool:
        """Whether anything is to be reached from, or reaches, the internet."""
        return self.nat or bool(self.ssh_from)

    def with_role(self, role: str) -> tuple[Machine, ...]:
        return tuple(machine for machine in self.machines if role in machine.roles)
