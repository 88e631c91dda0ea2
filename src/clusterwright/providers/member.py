"""One machine of a group that a cloud keeps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """It is there, or is on its way with an address."""

    address: str
    node: str = ""
    """The node that the cloud made it as; empty where machines of a group are alike."""
    domain: str | None = None
    """What it shares NVLink within. None for a type whose NVLink ends at the machine; empty as long as the
    cloud does not tell."""
