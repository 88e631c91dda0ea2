"""Real Slurm with the software for GPUs: what tasks are told, what a job leaves behind, channels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clusterwright.bundle.role import roles
from clusterwright.plan.software.traits import traits
from clusterwright.render import render

from . import sample
from .daemons import Stage, place, skip_without_cgroup_v1, stage, start_controller, start_node
from .test_daemons import assert_started, await_words, carrying, playing

pytestmark = pytest.mark.slurm

ROW: dict[str, object] = {
    "version": "1",
    "flavour": "",
    "packages": {},
    "services": [],
    "hold": [],
    "repository": None,
}
COMPONENTS = ("driver", "imex", "nccl")


@pytest.fixture(params=["24.11", "26.05"])
def running(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Stage, dict[str, Path]]]:
    skip_without_cgroup_v1()
    made = playing(request.param)
    handoff = replace(made, software={**made.software, "stacks": {"gpu": dict.fromkeys(COMPONENTS, ROW)}})
    with stage(carrying(request.param), handoff, tmp_path, sample.H100) as cluster:
        place(cluster, render(handoff))
        put(cluster, "etc/profile.d/clusterwright-fabric.sh", text("nccl", "fabric.sh.j2"))
        put(cluster, "usr/lib/clusterwright/gpu-epilog", text("slurm_gpu", "gpu-epilog"))
        put(cluster, "usr/bin/nvidia-smi", "#!/bin/sh\ncat /run/left-on-gpus\n")
        put(cluster, "run/left-on-gpus", "")
        logs = start_controller(cluster, handoff)
        logs["slurmd"] = start_node(cluster, "gpu-001")
        await_words(cluster, "idle", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
        yield cluster, logs


def text(role: str, source: str) -> str:
    row = next(row for row in roles() if row.name == role)
    stack = dict.fromkeys(COMPONENTS, ROW)
    return row.text(source, {"traits": sorted(traits(sample.H100)), "stack": stack})


def put(cluster: Stage, path: str, content: str) -> None:
    file = cluster.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    file.chmod(0o755)


def test_tasks_jobs_and_channels(running: tuple[Stage, dict[str, Path]]) -> None:
    cluster, logs = running
    assert_started(logs)

    said = cluster.run("srun", "-w", "gpu-001", "--gres=gpu:2", "env")
    assert "NCCL_NET=IB\n" in said
    own = cluster.run("srun", "-w", "gpu-001", "--gres=gpu:2", "--export=ALL,NCCL_NET=Socket", "env")
    assert "NCCL_NET=Socket\n" in own
    assert "NCCL_DEBUG=WARN\n" in own

    if "SwitchType=switch/nvidia_imex" in (cluster.root / "etc/slurm/slurm.conf").read_text():
        assert (
            "switch/nvidia_imex: nvidia-caps-imex-channels major device not found"
            in logs["slurmd"].read_text()
        )
        assert "nvidia_imex" in cluster.run("scontrol", "show", "config")
    assert_started(logs)

    await_words(cluster, "idle", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
    put(cluster, "run/left-on-gpus", "4711\n")
    cluster.run("srun", "-w", "gpu-001", "true")  # without GPUs: nothing is looked at
    await_words(cluster, "idle", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
    cluster.run("srun", "-w", "gpu-001", "--gres=gpu:1", "true")
    await_words(cluster, "drain", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
    await_words(cluster, "Epilog error", "sinfo", "-hN", "-n", "gpu-001", "-o", "%E")
