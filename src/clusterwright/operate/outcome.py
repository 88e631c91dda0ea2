"""What a verb did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clusterwright.accept.result import Acceptance
from clusterwright.converge.result import NodeResult
from clusterwright.finding import Finding, Severity, Where
from clusterwright.handoff import Handoff
from clusterwright.spec.nodeset import fold

_SHOWN = 4


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
    def observed(self) -> tuple[Finding, ...]:
        """What differs of roles that the site keeps itself; nodes that are alike share a finding."""
        alike: dict[tuple[str, ...], list[str]] = {}
        for name, node in sorted(self.nodes.items()):
            if node.observed:
                alike.setdefault(node.observed, []).append(name)
        return tuple(_kept(names, lines) for lines, names in alike.items())

    @property
    def ok(self) -> bool:
        return not self.broken and not self.failed and (self.acceptance is None or self.acceptance.accepted)


def _kept(nodes: Sequence[str], lines: Sequence[str]) -> Finding:
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    what = f"observed, and left as it is: {'; '.join(lines[:_SHOWN])}{more}"
    remedy = "The site keeps it (`ansible_roles`); `manage` in its place brings it to the description"
    return Finding("CW8270", Where(path=fold(nodes)), what, remedy, Severity.NOTE)
