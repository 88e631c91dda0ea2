"""Something in a cloud that says of itself which cluster it is of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Leftover:
    """`identity` is the cloud's own: an ARN, or a path from `projects/` on."""

    kind: str
    identity: str
    machine: str = ""
    """Its machine type, where it is a machine."""
