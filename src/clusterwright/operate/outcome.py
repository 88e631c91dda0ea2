"""What a verb did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clusterwright.accept.result import Acceptance
from clusterwright.converge.result import NodeResult
from clusterwright.finding import Finding
from clusterwright.handoff import Handoff


@dataclass(frozen=True)
class Outcome:
    """An `up`, or a part of one."""

    handoff: Handoff
    findings: tuple[Finding, ...] = ()
    """Warnings and notes of the description."""
    created: tuple[str, ...] = ()
    """Nodes that were made."""
    removed: tuple[str, ...] = ()
    """Nodes that the description no longer names."""
    nodes: Mapping[str, NodeResult] = field(default_factory=dict)
    """What converge did to each node."""
    failed: tuple[Finding, ...] = ()
    """What stopped a change on its way through the cluster."""
    acceptance: Acceptance | None = None
    """None when gates were not asked for, or when nothing could be asked."""

    @property
    def broken(self) -> Mapping[str, NodeResult]:
        return {name: node for name, node in self.nodes.items() if node.status in ("failed", "unreachable")}

    @property
    def changed(self) -> tuple[str, ...]:
        """Nodes on which something was changed."""
        return tuple(sorted(name for name, node in self.nodes.items() if node.status == "changed"))

    @property
    def ok(self) -> bool:
        return not self.broken and not self.failed and (self.acceptance is None or self.acceptance.accepted)
