"""What a lab is asked for, and what it is seen to be."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Literal


@dataclass(frozen=True, slots=True)
class Share:
    """A folder of the lab that every node mounts at the same place."""

    name: str
    mount_point: str
    directories: tuple[str, ...] = ()
    """Made in it when it is new."""
    open_to_all: bool = False
    """As a scratch file system is: anybody may make files at its top, and remove their own."""


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """One node as it is now."""

    name: str
    address: str
    state: Literal["running", "frozen", "stopped", "half-made"]


@dataclass(frozen=True, slots=True)
class LabStatus:
    """One lab as it is now; the subnet is None when its state file is missing or cannot be read."""

    name: str
    subnet: IPv4Network | None
    nodes: tuple[NodeStatus, ...]
