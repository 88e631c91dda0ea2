"""The floor of own machines: racks with everything that stands in them, their power, and pictures of it."""

from __future__ import annotations

from clusterwright.plan.floor.layout import floors
from clusterwright.plan.floor.model import Floor, Placed, RackPlan, Watts
from clusterwright.plan.floor.power import pdu_loads, watts

__all__ = ["Floor", "Placed", "RackPlan", "Watts", "floors", "pdu_loads", "watts"]
