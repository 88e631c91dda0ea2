"""What a new hand-off does to a running cluster: every difference, the nodes it is on, and its cost."""

from __future__ import annotations

from clusterwright.change.batches import Batch, batches, can_be_rolled, in_turn, mixed
from clusterwright.change.compare import diff
from clusterwright.change.model import Change, impact_by_node

__all__ = ["Batch", "Change", "batches", "can_be_rolled", "diff", "impact_by_node", "in_turn", "mixed"]
