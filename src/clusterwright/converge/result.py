"""What a run did to each node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

NodeStatus = Literal["ok", "changed", "failed", "unreachable"]


@dataclass(frozen=True, slots=True)
class NodeResult:
    """One node after a run. `drift` names what differed before it, when that is known."""

    status: NodeStatus
    tasks: int = 0
    changed: int = 0
    failed_task: str = ""
    message: str = ""
    drift: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    """What differs of roles that the site keeps itself."""


@dataclass(frozen=True)
class Converged:
    """A whole run."""

    nodes: Mapping[str, NodeResult] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.broken

    @property
    def broken(self) -> Mapping[str, NodeResult]:
        """Nodes that did not get there."""
        return {n: r for n, r in self.nodes.items() if r.status in ("failed", "unreachable")}

    @property
    def changed(self) -> int:
        """Changed tasks over all nodes."""
        return sum(result.changed for result in self.nodes.values())
