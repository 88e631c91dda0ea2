"""How a provision ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from clusterwright.finding import Finding, Severity

Ending = Literal["ok", "changed", "failed"]
"""Was ready before, became ready, did not."""


@dataclass(frozen=True, slots=True)
class Ended:
    """One machine."""

    status: Ending
    switched: str = ""
    """What its BMC was told, and did: `on`, or `off, on`."""


@dataclass(frozen=True)
class Provisioned:
    """By node."""

    cluster: str
    nodes: Mapping[str, Ended] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    untouched: tuple[str, ...] = ()
    """Nodes whose batch never came, because too many failed before."""

    @property
    def ok(self) -> bool:
        return not any(finding.severity is Severity.ERROR for finding in self.findings)
