"""The gate program against broken hardware: each fault of the simulators is caught, and clears."""

from __future__ import annotations

import subprocess

import pytest
from gate_node import smi
from gate_tree import XID, Tree, needs_mknod

from clusterwright.providers.lab.simulators import faults

FAULTS: dict[str, set[str]] = {
    "ecc": {"ecc", "xid"},
    "ecc-corrected": set(),
    "row-remap-failed": {"ecc", "xid"},
    "xid": {"user-driver", "xid"},
    "gpu-missing": {"gpus"},
    "nvlink-down": {"nvlink", "xid"},
    "pci-narrow": set(),  # not asked every minute: test_gate.py
    "thermal-slowdown": {"throttle"},
    "power-brake": {"throttle"},
    "nic-missing": {"fabric-cards"},
    "nic-down": {"fabric-cards"},
    "nic-slow": {"fabric-cards"},
    "driver-mismatch": {"driver-loaded", "user-driver"},
    "fabric-manager": {"nvlink-fabric"},
}


@needs_mknod
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_hardware_is_caught_and_clears(fault: str, healthy: Tree) -> None:
    sound = healthy.hardware
    healthy.inject(fault, 1 if faults.FAULTS[fault].of != "node" else 0)
    assert set(healthy.failed("--quick")) == FAULTS[fault]
    healthy.show(sound)
    assert healthy.failed("--quick") == []


def test_every_fault_that_a_node_can_see_is_tried() -> None:
    of_amd = {name for name, fault in faults.FAULTS.items() if fault.vendor == "amd"}
    elsewhere = {"rxdm", "tcpxo-plugin", "key-not-enrolled"}  # test_tcpxo.py, test_gate_kernel.py
    of_shares = {name for name, fault in faults.FAULTS.items() if fault.of == "share"}  # test_gate_storage.py
    of_jobs = {"diag-fails", "diag-hangs", "nvlink-slow"}  # test_faults_of_jobs.py
    between_nodes = {"network-slow"}  # the story test_gpu_stack.py
    assert set(FAULTS) | of_shares | of_amd | elsewhere | of_jobs | between_nodes == set(faults.FAULTS)


def cut(tree: Tree) -> None:
    """GPU 2 in two instances, as planned."""
    tree.simulator("nvidia-smi")
    tree.expected["mig"] = {str(gpu): [] for gpu in range(8)}
    tree.expected["mig"]["2"] = [{"profile": "3g.40gb", "id": 9, "start": start} for start in (0, 4)]
    tree.plan()
    for link in ("2.0-instance", "2.0-compute", "2.4-instance", "2.4-compute"):
        tree.write(f"/dev/mig/{link}", "")
    ask(tree, "-i", "2", "-mig", "1")
    ask(tree, "mig", "-i", "2", "-cgi", "9:0,9:4", "-C")


def ask(tree: Tree, *words: str) -> None:
    done = subprocess.run([tree.bin / "nvidia-smi", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@needs_mknod
def test_instances_are_where_they_are_planned(healthy: Tree) -> None:
    cut(healthy)
    assert healthy.failed("--quick") == []
    assert healthy.seen("mig", "--quick") == "2 instances as planned"


@needs_mknod
@pytest.mark.parametrize(
    ("seen", "commands"),
    [
        ("no such instance", [["-gi", "2", "-dci"], ["-gi", "2", "-dgi"]]),
        ("instance 2 has no compute instance", [["-gi", "2", "-dci"]]),
        ("no such instance", [["-dci"], ["-dgi"], ["-cgi", "0", "-C"]]),
    ],
)
def test_an_instance_that_is_gone_is_named(healthy: Tree, seen: str, commands: list[list[str]]) -> None:
    cut(healthy)
    for words in commands:
        ask(healthy, "mig", "-i", "2", *words)
    assert healthy.failed("--quick") == ["mig"]
    assert healthy.seen("mig", "--quick") == seen


@needs_mknod
def test_a_link_that_leads_nowhere_is_named(healthy: Tree) -> None:
    cut(healthy)
    (healthy.root / "dev/mig/2.4-compute").unlink()
    assert healthy.seen("mig", "--quick") == "/dev/mig/2.4-compute leads nowhere"


@needs_mknod
def test_a_mismatch_is_named_as_such(healthy: Tree) -> None:
    healthy.inject("driver-mismatch")
    assert healthy.seen("driver-loaded") == "driver 535.183.01"
    assert "Driver/library version mismatch" in healthy.seen("user-driver")


def test_a_repair_settles_what_the_kernel_logged(healthy: Tree) -> None:
    healthy.write("/kernel.log", XID.format(48, "DBE"))
    assert healthy.seen("xid") == "Xid 48 of the GPU at 0000:52:00 (RESET): DBE"
    healthy.run("--repaired")
    assert healthy.seen("xid", "--quick") == "none"


def test_the_worst_xid_is_told_and_harmless_ones_pass(healthy: Tree) -> None:
    healthy.write("/kernel.log", XID.format(13, "Graphics Exception") + XID.format(31, "MMU Fault"))
    assert healthy.seen("xid") == "only to be watched: 13, 31"
    healthy.write("/kernel.log", "".join(XID.format(number, "x") for number in (48, 79, 54, 13)))
    assert healthy.seen("xid").startswith("Xid 54 ")


def test_a_moment_of_slowdown_is_no_fault(healthy: Tree) -> None:
    once = f"if [ -e {healthy.root}/asked ]; then\n{smi(8)}\nelse\ntouch {healthy.root}/asked\n"
    healthy.program("nvidia-smi", once + smi(8).replace("Not Active, 5", "Active, 5") + "\nfi")
    assert "throttle" not in healthy.failed("--quick")


def test_a_field_that_this_driver_does_not_know_is_left_out(healthy: Tree) -> None:
    refusal = "echo 'Field \"fabric.state\" is not a valid field to query.'; exit 2"
    old = smi(8).replace(", Completed, Disabled'", ", Disabled'")
    healthy.program("nvidia-smi", f'case "$*" in *fabric.state*) {refusal} ;; esac\n{old}')
    _, gates, _ = healthy.run()
    assert gates["gpus"] == gates["ecc"] == gates["nvlink-fabric"] == "pass"


@needs_mknod
def test_no_link_is_missed_where_the_driver_tells_of_none(healthy: Tree) -> None:
    """Nvlink queries are not supported for Devices in MIG mode, says nvidia-smi of such a GPU."""
    healthy.simulator("nvidia-smi")
    ask(healthy, "-mig", "1")
    assert "nvlink" not in healthy.failed("--quick")
    assert "cut into instances" in healthy.seen("nvlink", "--quick")
