"""The one versioned document between what builds machines and what configures them."""

from __future__ import annotations

from clusterwright.handoff.document import VERSION, Handoff, Node
from clusterwright.handoff.make import from_plan
from clusterwright.handoff.read import loads

__all__ = ["VERSION", "Handoff", "Node", "from_plan", "loads"]
