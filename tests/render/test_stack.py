"""What Slurm and the nodes are told of the software for GPUs that pools have."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from clusterwright.render import NodeFile, render

from .sample import handoff


def rendered(release: str, *components: str) -> dict[str, NodeFile]:
    made = handoff(release, count=3)
    row: dict[str, object] = {
        "version": "1",
        "flavour": "",
        "packages": {},
        "services": [],
        "hold": [],
        "repository": None,
    }
    software = {**made.software, "stacks": {"gpu": dict.fromkeys(components, row)}}
    nodes = tuple(replace(node, block="rack1") if node.name == "gpu-002" else node for node in made.nodes)
    nodes = tuple(replace(node, block="rack1") if node.name == "gpu-003" else node for node in nodes)
    return {file.path: file for file in render(replace(made, software=software, nodes=nodes))}


def test_tasks_learn_of_the_fabric_where_a_pool_has_a_collectives_library() -> None:
    for component in ("nccl", "rccl", "rocm"):
        files = rendered("24.11", component)
        assert "\nTaskProlog=/etc/slurm/task-prolog\n" in files["/etc/slurm/slurm.conf"].content
        prolog = files["/etc/slurm/task-prolog"]
        assert (prolog.roles, prolog.mode) == (("compute",), 0o755)
    without = rendered("24.11")
    assert "/etc/slurm/task-prolog" not in without
    assert "TaskProlog" not in without["/etc/slurm/slurm.conf"].content


@pytest.mark.parametrize(("release", "plugin"), [("23.11", False), ("24.11", True), ("26.05", True)])
def test_slurm_makes_channels_where_it_can(release: str, plugin: bool) -> None:
    conf = rendered(release, "imex")["/etc/slurm/slurm.conf"].content
    assert ("\nSwitchType=switch/nvidia_imex\n" in conf) == plugin
    assert "SwitchType" not in rendered(release, "driver")["/etc/slurm/slurm.conf"].content


def test_trays_of_a_block_are_one_domain_and_a_tray_without_one_is_alone() -> None:
    file = rendered("24.11", "imex")["/etc/clusterwright/imex-domains"]
    lines = [line for line in file.content.splitlines() if not line.startswith("#")]
    assert lines == ["gpu-001 gpu-001 10.66.0.10", "rack1 gpu-002 10.66.0.11", "rack1 gpu-003 10.66.0.12"]
    assert file.affects == ("nvidia-imex:restart",)
    assert "/etc/clusterwright/imex-domains" not in rendered("24.11", "driver")


def test_pyxis_is_loaded_where_it_is() -> None:
    assert "\noptional spank_pyxis.so " in rendered("24.11", "pyxis")["/etc/slurm/plugstack.conf"].content
    assert "spank_pyxis" not in rendered("24.11", "enroot")["/etc/slurm/plugstack.conf"].content


def test_a_jobs_gpus_are_looked_at_when_it_ends() -> None:
    assert "/usr/lib/clusterwright/gpu-epilog" in rendered("24.11", "driver")["/etc/slurm/epilog"].content
    assert "gpu-epilog" not in rendered("24.11")["/etc/slurm/epilog"].content


def test_prometheus_asks_the_exporter_of_gpus_where_it_is() -> None:
    files = rendered("24.11", "dcgm_exporter")
    assert "job_name: dcgm\n" in files["/etc/prometheus/prometheus.yml"].content
    [group] = json.loads(files["/etc/prometheus/targets/gpus.json"].content)
    assert group["targets"] == ["gpu-001:9400", "gpu-002:9400", "gpu-003:9400"]
    without = rendered("24.11", "dcgm")
    assert "dcgm" not in without["/etc/prometheus/prometheus.yml"].content
    assert "/etc/prometheus/targets/gpus.json" not in without
