"""Faults that only a job or a diagnosis shows: what the simulators answer, and the gates that judge it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clusterwright.accept import dcgm, fabric_gates
from clusterwright.accept.nccl import Alone, Squad
from clusterwright.accept.nccl_text import parse
from clusterwright.accept.result import GateResult
from clusterwright.accept.session import Ran
from clusterwright.handoff import Handoff, Node
from clusterwright.providers.lab.simulators import diagnostic, faults, nccl_tests
from clusterwright.providers.lab.simulators.hardware import Hardware, SimulatedGpu
from clusterwright.providers.lab.simulators.node import Node as SimulatedNode

H100 = "NVIDIA H100 80GB HBM3"
GPUS = tuple(SimulatedGpu(n, H100, f"0000:{n}0:00.0", f"GPU-{n}", 81559) for n in range(8))
SOUND = Hardware(GPUS, driver_version="580.95.05", nvlink_domain=8)


class Session:
    """Runs `dcgmi diag` on one simulated node."""

    def __init__(self, hardware: Hardware, own: Path) -> None:
        self.node = SimulatedNode(hardware, own=own, name="gpu-001")
        self.node.remember("persistence_mode", True)

    def run(self, *words: str, timeout: float) -> Ran:
        given = diagnostic.answer(self.node, words[2:])
        return Ran(124, "", "", timeout) if given.hangs else Ran(given.status, given.text, given.error, 1.0)


def diagnosed(hardware: Hardware, node: Node, own: Path) -> GateResult:
    session: Any = Session(hardware, own)
    return dcgm.diagnose(session, node)


def collected(hardware: Hardware, squad: Squad) -> Iterator[GateResult]:
    """Of the first node with this hardware, and of a sound one."""
    words = ["-b", "1G", "-e", "8G", "-f", "2", "-c", "0", "-g", "8"]
    texts = {
        name: nccl_tests.answer(SimulatedNode(one, name=name), "all_reduce_perf", words).text
        for name, one in zip(squad.names, (hardware, SOUND), strict=True)
    }
    found = {name: Alone("/usr/bin/all_reduce_perf", parse(text), "7") for name, text in texts.items()}
    yield from fabric_gates.within(squad, Ran(0, "", "", 1.0), found, simulated=True)


@pytest.fixture
def squad(lab: Handoff) -> Squad:
    nodes = lab.with_role("compute")[:2]
    return Squad("gpu", tuple(nodes), lab.hardware[nodes[0].machine], "IB")


@pytest.mark.parametrize(
    ("fault", "seen"),
    [("diag-fails", "A corrupt InfoROM has been detected in GPU 0."), ("diag-hangs", "no answer in 45 s")],
    ids=str,
)
def test_what_a_diagnosis_finds_is_caught_named_and_clears(
    fault: str, seen: str, squad: Squad, tmp_path: Path
) -> None:
    broken = diagnosed(faults.inject(SOUND, fault), squad.nodes[0], tmp_path)
    assert (broken.name, broken.node, broken.status) == ("dcgm-diag", "gpu-001", "fail")
    assert seen in broken.seen and broken.remedy
    again = faults.clear(faults.inject(SOUND, fault), fault, None)
    assert diagnosed(again, squad.nodes[0], tmp_path).status == "pass"


def test_slow_links_within_a_node_are_caught_named_and_clear(squad: Squad) -> None:
    slow, other = collected(faults.inject(SOUND, "nvlink-slow"), squad)
    assert (slow.name, slow.node, slow.status) == ("nccl-node", "gpu-001", "fail") and slow.remedy
    assert other.status == "pass"
    again = faults.clear(faults.inject(SOUND, "nvlink-slow"), "nvlink-slow", None)
    assert {gate.status for gate in collected(again, squad)} == {"pass"}
