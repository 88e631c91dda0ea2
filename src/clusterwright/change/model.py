"""One difference, and what all of them together mean for a node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from clusterwright.catalog.changes import Impact, Kind


@dataclass(frozen=True, slots=True)
class Change:
    """A property or a file that differs, with the nodes that it touches in the order of the hand-off."""

    nodes: tuple[str, ...]
    what: Kind
    path: str
    """Property (`scheduler.options.KillWait`), or the absolute path of a file."""
    impact: Impact
    units: tuple[str, ...] = ()
    """Daemons that restart."""

    def as_json(self) -> dict[str, Any]:
        return {
            "nodes": list(self.nodes),
            "what": self.what,
            "path": self.path,
            "impact": self.impact.value,
            "units": list(self.units),
        }


def impact_by_node(changes: Iterable[Change]) -> dict[str, Impact]:
    """The heaviest that any change asks of each node that it touches."""
    heaviest: dict[str, Impact] = {}
    for change in changes:
        for node in change.nodes:
            known = heaviest.get(node, Impact.LIVE)
            heaviest[node] = max(known, change.impact, key=lambda impact: impact.weight)
    return heaviest
