"""The GPU host stack in a lab: locked, installed, proven, broken on purpose, and exchanged."""

from __future__ import annotations

import time

import pytest

from .ground import DESCRIPTION, Desk

pytestmark = pytest.mark.lab
OLD, NEW = "595.58.03", "595.91.07"
WISH = DESCRIPTION + f"software: {{versions: {{driver: {OLD}}}, monitoring: false}}\n"
VERSION = "nvidia-smi --query-gpu=driver_version --format=csv,noheader --id=0"
FOUND = {
    "gpu-missing": "gpus",
    "thermal-slowdown": "throttle",
    "nic-missing": "fabric-cards",
    "nic-down": "fabric-cards",
    "nic-slow": "fabric-cards",
    "driver-mismatch": "driver-loaded",
}


def test_what_is_locked_is_what_runs(desk: Desk) -> None:
    desk.describe(WISH)
    desk.run("lock", "cluster.yaml")
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert desk.on("gpu-001", VERSION).split() == [OLD]
    held = desk.on("gpu-001", "apt-mark showhold").split()
    assert {"nvidia-driver-cuda", "nvidia-fabricmanager", "libnccl2"} <= set(held)


def test_second_up_changes_nothing(desk: Desk) -> None:
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}


@pytest.mark.parametrize(("fault", "gate"), FOUND.items(), ids=FOUND)
def test_a_fault_takes_its_node_out_of_the_queue_until_it_is_mended(
    desk: Desk, fault: str, gate: str
) -> None:
    desk.run("node", "break", "story", "gpu-002", fault, "--number", "1" if "driver" not in fault else "0")
    said = desk.on("gpu-002", "/usr/lib/clusterwright/gate --quick", code=1)
    assert f"\nFAIL {gate}: " in f"\n{said}"
    assert f"clusterwright: gate {gate}:" in desk.run("status", "story")
    desk.run("node", "mend", "story", "gpu-002")
    desk.on("gpu-002", "/usr/lib/clusterwright/gate --quick")
    assert "drained" not in desk.run("status", "story")


def test_a_gpu_with_memory_errors_is_exchanged_with_its_node(desk: Desk) -> None:
    """What the driver wrote to the kernel's log asks for a reset, also when nothing else shows the fault."""
    desk.run("node", "break", "story", "gpu-002", "ecc", "--number", "3")
    said = desk.on("gpu-002", "/usr/lib/clusterwright/gate --quick", code=1)
    assert "FAIL ecc: " in said and "Xid 48" in said
    assert desk.outcome("node", "replace", "story", "gpu-002")["accepted"]


def test_a_slow_network_is_no_accepted_cluster(desk: Desk) -> None:
    desk.run("node", "break", "story", "gpu-002", "network-slow")
    said = desk.run("accept", "story", code=1)
    desk.run("node", "mend", "story", "gpu-002")
    assert "nccl" in said and "gpu-002" in said


def test_nothing_unreviewed_is_installed(desk: Desk) -> None:
    desk.describe(WISH.replace(OLD, NEW))
    assert "CW8014" in desk.run("up", "cluster.yaml", code=2)
    assert desk.on("gpu-001", VERSION).split() == [OLD]


def test_a_newer_driver_waits_for_jobs_and_then_takes_one_reboot(desk: Desk) -> None:
    desk.run("lock", "cluster.yaml")
    assert "reboot  gpu-[001-002]" in desk.run("diff", "cluster.yaml")
    job = desk.submit("gpu-001")
    assert "CW8006" in desk.run("up", "cluster.yaml", code=2)
    desk.as_user("scancel", job)
    while desk.as_user("squeue", "--noheader"):
        time.sleep(0.3)
    boots = "cat /proc/1/stat | cut -d' ' -f22"
    login = desk.on("login", boots)
    assert desk.outcome("up", "cluster.yaml")["accepted"]
    assert desk.on("gpu-001", VERSION).split() == [NEW]
    assert desk.on("login", boots) == login
    nodes = desk.outcome("up", "cluster.yaml")["nodes"]
    assert {(node["status"], node["tasks"]) for node in nodes.values()} == {("ok", 0)}
