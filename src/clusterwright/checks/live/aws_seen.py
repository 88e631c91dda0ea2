"""What an account on AWS told, in one look. As data, so that a look can be kept and judged again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from clusterwright.checks.live.answer import Answer


@dataclass(frozen=True, slots=True)
class Zone:
    """An availability zone of the region."""

    state: str
    """`available`, `impaired` …"""
    opted_in: bool


@dataclass(frozen=True, slots=True)
class Instance:
    """A machine of the account that is pending or running in the region."""

    machine: str
    capacity: str
    """`on-demand`, `spot` or `capacity-block`."""
    vcpus: int
    node: str = ""
    """Name of the node of this cluster that it is."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How much of something the account has, and how much of that is this cluster's already."""

    total: float
    ours: float = 0


@dataclass(frozen=True, slots=True)
class Reservation:
    """A Capacity Reservation or a Capacity Block."""

    machine: str
    zone: str
    platform: str
    state: str
    total: int
    free: int
    block: bool
    """Whether it is a Capacity Block."""
    grouped: bool
    """Whether it was made in a cluster placement group."""
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """An AMI, behind the name that the plan has for it."""

    ami: str
    state: str
    architecture: str
    """`x86_64` or `arm64`."""
    windows: bool
    root_device: str
    root_gib: int
    deprecated: datetime | None = None


@dataclass(frozen=True, slots=True)
class Dns:
    """What a VPC says of names."""

    support: bool
    hostnames: bool


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet of a network that exists."""

    vpc: str
    zone: str
    cidr: str
    free: int
    """Addresses that AWS would still give."""
    default_route: str = ""
    """What 0.0.0.0/0 goes to: `nat-…`, `tgw-…`, `igw-…`; empty without such a route."""
    endpoints: tuple[str, ...] = ()
    """Gateway endpoints in its route table."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What EC2 said to the machines of a pool without making any."""

    accepted: bool
    code: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class AwsSeen:
    """Every question has a field. None: there was nothing to ask."""

    at: datetime
    account: str = ""
    zones: Answer[Mapping[str, Zone]] = None
    offered: Answer[Mapping[str, tuple[str, ...]]] = None
    """Zones of the region by machine type."""
    quotas: Answer[Mapping[str, float]] = None
    """By code."""
    instances: Answer[tuple[Instance, ...]] = None
    usage: Mapping[str, Answer[Usage]] = field(default_factory=dict)
    """By what is counted: `addresses`, `gp3-tib` …"""
    reservations: Answer[Mapping[str, Reservation]] = None
    """By ID, those of the plan that there are."""
    unused: Answer[Mapping[str, int]] = None
    """Machines that are reserved and do not run, by type: quotas count them."""
    images: Mapping[str, Answer[Image | str]] = field(default_factory=dict)
    """By the plan's name of it; why it is not there, where it is not."""
    dns: Answer[Dns] = None
    subnets: Answer[Mapping[str, Subnet]] = None
    """By ID, those of the plan that there are."""
    taken: Answer[Mapping[str, str]] = None
    """Planned addresses that something else has, and what."""
    launches: Mapping[str, Answer[Launch]] | None = None
    """By pool; None where the zone has no subnet to try them in, or every machine is there."""
