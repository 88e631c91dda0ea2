"""What the gates say: one result per gate and node, and the acceptance made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

GateStatus = Literal["pass", "fail", "skip"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate. `node` is a node's name, a folded set of nodes, or empty for the cluster as a whole."""

    name: str
    node: str
    status: GateStatus
    expected: str
    seen: str
    remedy: str = ""
    seconds: float = 0.0
    figures: Mapping[str, float] = field(default_factory=dict)
    """Measured values, with their unit in the name: `latency_us`, `bandwidth_gb_s`."""

    @property
    def words(self) -> str:
        """All of it in one line."""
        where = f"{self.name} {self.node}".strip()
        return f"{where}: expected {self.expected}, seen {self.seen}. {self.remedy}".strip()


@dataclass(frozen=True, slots=True)
class Acceptance:
    """All gates of one run. A skipped gate proves nothing and refuses nothing; the report counts it."""

    cluster: str
    gates: tuple[GateResult, ...]
    started: float
    """Seconds since the epoch, by the operator's clock."""
    seconds: float
    simulated: bool
    """Some nodes only play their machine type."""

    @property
    def accepted(self) -> bool:
        return not self.failed

    @property
    def failed(self) -> tuple[GateResult, ...]:
        return tuple(gate for gate in self.gates if gate.status == "fail")

    @property
    def skipped(self) -> tuple[GateResult, ...]:
        return tuple(gate for gate in self.gates if gate.status == "skip")


def judged(name: str, node: str, passed: bool, *, expected: str, seen: str, remedy: str) -> GateResult:
    """A result whose remedy is kept only where there is something to remedy."""
    return GateResult(name, node, "pass" if passed else "fail", expected, seen, "" if passed else remedy)
