"""The one versioned document between what builds machines and what configures them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clusterwright.handoff.document import VERSION, Handoff, Node
from clusterwright.handoff.read import loads

if TYPE_CHECKING:
    from clusterwright.handoff.make import from_plan

__all__ = ["VERSION", "Handoff", "Node", "from_plan", "loads"]


def __getattr__(name: str) -> Any:
    """Most read a document, and start without everything that makes one."""
    if name != "from_plan":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from clusterwright.handoff.make import from_plan

    return from_plan
