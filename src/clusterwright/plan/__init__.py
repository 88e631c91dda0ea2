"""Description and catalog in, a frozen ClusterPlan out. Pure: the same input gives the same bytes."""

from __future__ import annotations

from clusterwright.plan.build import plan
from clusterwright.plan.rehearse import Rehearsal, rehearse

__all__ = ["Rehearsal", "plan", "rehearse"]
