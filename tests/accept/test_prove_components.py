"""What the acceptance proves of a component that the lock has: NCCL, DCGM, containers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from answering import GPU_NODES, Accept, World, ran

from clusterwright.accept import dcgm


def test_gpus_with_a_stack_are_proven_with_nccl_and_dcgm(accept: Accept) -> None:
    outcome = accept(World(components=("nccl", "dcgm")))
    assert outcome.failed == []
    assert outcome.status("nccl-node") == dict.fromkeys(GPU_NODES, "pass")
    assert outcome.status("nccl-fabric") == {"gpu-[001-002]": "pass"}
    assert outcome.status("dcgm-diag") == dict.fromkeys(GPU_NODES, "pass")
    figures = [gate.seen for gate in outcome.acceptance.gates if gate.name.startswith("nccl")]
    assert all("rehearsal" in seen and "no performance result" in seen for seen in figures)


def test_a_slow_node_is_named_and_kept_out(accept: Accept) -> None:
    world = World(components=("nccl",), within={"gpu-002": 239.0})
    outcome = accept(world)
    assert outcome.failed == [("nccl-node", "gpu-002")]
    assert world.drained == ["gpu-002"]
    assert outcome.status("nccl-fabric") == {}, "one node is left, and nobody to try it with"


def test_when_no_node_is_well_none_is_drained(accept: Accept) -> None:
    world = World(components=("nccl",), slow="gpu-002")
    assert accept(world).failed == [("nccl-fabric", "gpu-001"), ("nccl-fabric", "gpu-002")]
    assert world.drained == [], "of two, either may be the one"


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda text: text.replace('"Pass"', '"Fail"', 1), "software"),
        (lambda _: "Error: unable to establish a connection to the host", "unable to establish"),
        (lambda _: "", "exit status 0"),
    ],
)  # fmt: skip
def test_what_dcgm_finds_is_told(change: Callable[[str], str], seen: str, accept: Accept) -> None:
    world = World(components=("dcgm",))
    world.diag = change(world.diag)
    outcome = accept(world)
    assert outcome.failed == [("dcgm-diag", name) for name in GPU_NODES]
    assert all(seen in gate.seen for gate in outcome.acceptance.failed)


def test_a_diagnosis_that_hangs_hangs_nothing(accept: Accept) -> None:
    world = World(
        components=("dcgm",), answers={("gpu-001", "dcgmi"): ran(code=124, error="no end within 45 s")}
    )
    outcome = accept(world)
    assert outcome.failed == [("dcgm-diag", "gpu-001")]
    assert outcome.acceptance.failed[0].seen == "no answer in 45 s"


def test_dcgm_3_words_its_report_otherwise() -> None:
    result = {"gpu_id": "0", "status": "Fail", "warnings": "Persistence mode for GPU 0 is disabled."}
    category = {"category": "Deployment", "tests": [{"name": "Persistence Mode", "results": [result]}]}
    text = json.dumps({"DCGM GPU Diagnostic": {"test_categories": [category]}})
    assert dcgm.failures(text) == ["Persistence Mode: Persistence mode for GPU 0 is disabled."]
    assert dcgm.failures(text.replace("Fail", "Pass")) == []


@pytest.mark.parametrize(
    ("report", "seen"),
    [
        ({}, ""),
        ({"devices": []}, "no GPU instead of /dev/nvidia0"),
        ({"devices": ["0", "1"]}, "/dev/nvidia0, /dev/nvidia1 instead of /dev/nvidia0"),
        ({"refused": True}, "/dev/nvidia0 is there and cannot be opened"),
        ({"code": 125, "output": "unresolvable CDI devices nvidia.com/gpu=0"}, "unresolvable CDI devices"),
    ],
)
def test_a_container_has_the_gpu_of_its_job(report: dict[str, Any], seen: str, accept: Accept) -> None:
    outcome = accept(World(components=("container_toolkit",), container=report))
    assert outcome.failed == ([("container", name) for name in GPU_NODES] if seen else [])
    assert all(seen in gate.seen for gate in outcome.acceptance.failed)
    assert set(outcome.status("container")) == set(GPU_NODES)
