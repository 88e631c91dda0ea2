"""The fabric of own machines: how many switches, and what each cable joins."""

from __future__ import annotations

from clusterwright.plan.wiring.cables import Cable, End, Switch, Wiring, switches_of, wiring
from clusterwright.plan.wiring.design import Design, Unbuildable, design

__all__ = ["Cable", "Design", "End", "Switch", "Unbuildable", "Wiring", "design", "switches_of", "wiring"]
