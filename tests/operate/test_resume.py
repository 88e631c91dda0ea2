"""A resume is a person's word that a node is repaired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from clusterwright.converge.target import Target
from clusterwright.operate import node
from clusterwright.operate.cluster import Cluster


@dataclass
class Stand:
    """A cluster and its queue, of which a resume asks this much."""

    reasons: Mapping[str, str]
    targets: Mapping[str, Target]
    name: str = "stand"
    resumed: list[str] = field(default_factory=list)

    def nodes(self, text: str) -> tuple[str, ...]:
        return tuple(text.split(","))

    def reach(self, node: str) -> Target:
        return self.targets[node]

    def queue(self) -> Stand:
        return self

    def states(self) -> Mapping[str, tuple[str, str]]:
        return {name: ("drained" if reason else "idle", reason) for name, reason in self.reasons.items()}

    def resume(self, names: tuple[str, ...]) -> None:
        self.resumed += names

    def take_up(self, *_: object) -> tuple[str, ...]:
        return ()


def test_a_node_that_a_gate_drained_is_told_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(node, "run_on", lambda target, command, **_: told.append((target.name, command)))
    reasons = {
        "gpu-001": "clusterwright: gate xid: expected no Xid that asks for a repair, seen Xid 74",
        "gpu-002": "clusterwright: accept nccl-node: expected all_reduce over 8 GPUs",
        "gpu-003": "fan 3",
        "gpu-004": "clusterwright: gate ecc: expected no uncorrectable memory error",
        "gpu-005": "clusterwright: roll stopped: gate xid: expected no Xid",
    }
    place = Path("/nowhere")
    targets = {
        name: Target(name, "10.0.0.1", 22, "ada" if name == "gpu-001" else "root", place, place)
        for name in reasons
    }
    stand = Stand(reasons, targets)
    said: list[Any] = []
    node.resume(cast(Cluster, stand), "gpu-001,gpu-002,gpu-003,gpu-005", said.append)
    gate = "/usr/lib/clusterwright/gate --repaired"
    command = f'if [ "$(id -u)" = 0 ]; then {gate}; else sudo -n {gate}; fi'
    assert told == [("gpu-001", command), ("gpu-005", command)]
    assert stand.resumed == ["gpu-001", "gpu-002", "gpu-003"]
    assert [event.status for event in said] == ["changed", "ok", "ok", "ok"]
