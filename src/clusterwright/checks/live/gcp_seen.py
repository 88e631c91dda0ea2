"""What a project on Google Cloud told, in one look. As data, so that a look can be kept and judged again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from clusterwright.checks.live.answer import Answer


@dataclass(frozen=True, slots=True)
class Limit:
    """A quota and what is used of it; None where its interface does not tell."""

    limit: float
    usage: float | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation, or a block of one."""

    machine: str
    """Empty where only the reservation around the block tells."""
    status: str
    """`READY` …"""
    total: int
    used: int
    specific: bool
    """Whether machines must name it."""
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """The image behind a name or family."""

    name: str
    status: str
    architecture: str
    """`X86_64` or `ARM64`; empty where the image does not say."""
    disk_gib: int
    deprecated: str = ""
    """`DEPRECATED`, `OBSOLETE`, `DELETED`; empty when it is none of these."""


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet that exists."""

    network: str
    """Path of its network, `projects/…/global/networks/…`."""
    region: str
    cidr: str
    private_google_access: bool


@dataclass(frozen=True, slots=True)
class GcpSeen:
    """Every question has a field. None: there was nothing to ask."""

    at: datetime
    services: Answer[tuple[str, ...]] = None
    """Services that are enabled, of those that are needed."""
    permissions: Answer[tuple[str, ...]] = None
    """Permissions that the asker has, of those that the program needs."""
    zone: Answer[str] = None
    """Its status, `UP`; empty where there is none of this name."""
    machines: Answer[Mapping[str, bool]] = None
    """By machine type, whether the zone has it."""
    region_quotas: Answer[Mapping[str, Limit]] = None
    project_quotas: Answer[Mapping[str, Limit]] = None
    family_quotas: Answer[Mapping[str, Limit]] = None
    """By family of GPUs."""
    nodes: Answer[tuple[str, ...]] = None
    """Nodes of this cluster that are there."""
    reservations: Answer[Mapping[str, Reservation]] = None
    """By the plan's name of it, those that there are."""
    images: Mapping[str, Answer[Image | str]] = field(default_factory=dict)
    """By the plan's name of it; why it is not there, where it is not."""
    profiles: Answer[Mapping[str, bool]] = None
    """By network profile that the fabric needs, whether it is there."""
    mtu: Answer[int] = None
    """Of the network that exists; 0 where there is none of this name."""
    subnet: Answer[Subnet | str] = None
    """That exists; why it is not there, where it is not."""
    nat: Answer[bool] = None
    """Whether the network that exists has a Cloud NAT in the region."""
