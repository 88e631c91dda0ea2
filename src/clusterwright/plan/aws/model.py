"""The plan of a site on AWS. Frozen, and without any ID that only AWS gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    image: str
    """ID of an AMI, or `resolve:ssm:` and the parameter that names one."""
    disk_gib: int
    interfaces: tuple[Interface, ...]
    placement: str | None
    """Name of its placement group."""
    capacity: str
    """`on-demand`, `spot`, `reservation` or `capacity-block`."""
    reservation: str | None
    kept: Kept | None
    """What is on a volume that outlives it."""


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
    tags: Mapping[str, str]
    """Of everything."""

    def with_role(self, role: str) -> tuple[Machine, ...]:
        return tuple(machine for machine in self.machines if role in machine.roles)
