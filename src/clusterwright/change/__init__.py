"""What a new hand-off does to a running cluster: every difference, the nodes it is on, and its cost."""

from __future__ import annotations

from clusterwright.change.compare import diff
from clusterwright.change.model import Change, impact_by_node

__all__ = ["Change", "diff", "impact_by_node"]
