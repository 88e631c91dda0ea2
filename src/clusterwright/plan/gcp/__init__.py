"""What Google Cloud is asked for, decided before anything is made."""

from __future__ import annotations

from clusterwright.plan.gcp.build import gcp_plan

__all__ = ["gcp_plan"]
