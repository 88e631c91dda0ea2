"""The gate program against made trees: a healthy node passes, and one change fails exactly one gate."""

from __future__ import annotations

import ast
import os
import shutil
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml
from gate_node import smi
from gate_tree import DRIVER, FILES, NEXT_KERNEL, STACK, XID, Tree, in_process, needs_mknod, renamed


def examined(gate: ModuleType, tree: Tree, mode: str) -> dict[str, str]:
    report = gate.examine(gate.Node(str(tree.root), 60.0), mode)
    return {row["name"]: row["status"] for row in report["gates"]}


def no_gpu_0_in_the_driver(tree: Tree) -> None:
    shutil.rmtree(next((tree.root / "proc/driver/nvidia/gpus").iterdir()))


def a_file_for_a_device(tree: Tree) -> None:
    (tree.root / "dev/nvidia3").unlink()
    (tree.root / "dev/nvidia3").touch()


def one_cpu_offline(tree: Tree) -> None:
    text = (tree.root / "proc/cpuinfo").read_text()
    tree.write("/proc/cpuinfo", text.replace("processor\t: 191\n", ""))


def shown(old: str, new: str) -> Callable[[Tree], None]:
    """Something else in what nvidia-smi tells."""
    assert old in smi(8)
    return lambda tree: tree.program("nvidia-smi", smi(8).replace(old, new))


def holds(path: str, text: str) -> Callable[[Tree], None]:
    return lambda tree: tree.write(path, text)


def dpkg(**rows: str) -> Callable[[Tree], None]:
    return lambda tree: tree.packages(**rows)


def driver_of_the_site(version: str) -> Callable[[Tree], None]:
    """What `ansible_roles: {nvidia_driver: skip}` leaves in the plan, and this driver loaded."""

    def change(tree: Tree) -> None:
        tree.expected["stack"] = {part: row for part, row in STACK.items() if part != "driver"}
        tree.plan()
        tree.write("/proc/driver/nvidia/version", OTHER_DRIVER.replace("570.133.20", version))

    return change


OTHER_DRIVER = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build  (root)\n"


CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:12 UTC 2025\n"


CHANGED = "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"


DARK = "Link 3: <inactive>"


LAST_LINK = "\\n\\t Link 17: 26.562 GB/s"


CHANGES: dict[str, tuple[str, Callable[[Tree], object]]] = {
    "another host name": ("name", lambda t: t.write("/proc/sys/kernel/hostname", "gpu-009")),
    "seven GPUs": ("gpus", lambda t: t.program("nvidia-smi", smi(7))),
    "nine GPUs": ("gpus", lambda t: t.program("nvidia-smi", smi(9))),
    "another model": ("gpus", lambda t: t.program("nvidia-smi", smi(8, model="NVIDIA L4"))),
    "half the GPU memory": ("gpus", lambda t: t.program("nvidia-smi", smi(8, memory=40000))),
    "GPU memory not readable": ("gpus", lambda t: t.program("nvidia-smi", smi(8, memory="[N/A]"))),
    "no GPU at all": ("gpus", lambda t: t.program("nvidia-smi", "echo 'No devices were found'; exit 6")),
    "no driver": ("user-driver", lambda t: t.program("nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")),
    "no nvidia-smi": ("user-driver", lambda t: (t.bin / "nvidia-smi").unlink()),
    "driver without one": ("gpu-driver", no_gpu_0_in_the_driver),
    "device node missing": ("gpu-devices", lambda t: (t.root / "dev/nvidia3").unlink()),
    "device node is a file": ("gpu-devices", a_file_for_a_device),
    "control device missing": ("gpu-devices", lambda t: (t.root / "dev/nvidiactl").unlink()),
    "another driver loaded": ("driver-loaded", holds("/proc/driver/nvidia/version", OTHER_DRIVER)),
    "closed modules": ("driver-loaded", holds("/proc/driver/nvidia/version", CLOSED)),
    "no driver loaded": ("driver-loaded", holds("/proc/driver/nvidia/version", "")),
    "the site's driver is another": ("driver-loaded", driver_of_the_site("570.133.20")),
    "a package of another version": ("stack", dpkg(nvidia_open="590.1-1 hold installed")),
    "a package removed": ("stack", dpkg(nvidia_open="580.95.05-1 hold config-files")),
    "a package gone": ("stack", dpkg(nvidia_driver="")),
    "a package not held": ("stack", dpkg(nvidia_fabricmanager="580.95.05-1 install installed")),
    "an RPM of another version": ("stack", lambda t: t.rpms(version="590.1-1.el9")),
    "an RPM gone": ("stack", lambda t: t.rpms(gone="nvidia-fabricmanager")),
    "an RPM not held": ("stack", lambda t: t.rpms(unheld="nvidia-fabricmanager")),
    "rpm's database broken": ("stack", lambda t: (t.rpms(), t.program("rpm", "echo 'error: db'; exit 1"))),
    "nouveau loaded": ("modules", holds("/sys/module/nouveau/initstate", "live")),
    "a module not loaded": ("modules", lambda t: shutil.rmtree(t.root / "sys/module/gdrdrv")),
    "not built for the next kernel": ("modules", holds(NEXT_KERNEL, "")),
    "not built for this kernel": ("modules", lambda t: (t.root / "built/6.12.43-amd64/nvidia").unlink()),
    "the kernel's own module": ("modules", holds("/built/6.12.43-amd64/gdrdrv", "kernel/drivers/gdrdrv.ko")),
    "another kernel": ("kernel", holds("/proc/sys/kernel/osrelease", "6.1.0-40-amd64\n")),
    "Fabric Manager failed": ("gpu-services", lambda t: t.services(nvidia_fabricmanager="failed")),
    "DCGM stopped": ("gpu-services", lambda t: t.services(nvidia_dcgm="inactive")),
    "persistence off": ("persistence", shown("Enabled, 0", "Disabled, 0")),
    "eight lanes": ("pci-link", lambda t: t.inject("pci-narrow", 3)),
    "an older PCI": ("pci-link", shown("5, 16,", "4, 16,")),
    "a dark NVLink": ("nvlink", shown("Link 3: 26.562 GB/s", DARK)),
    "NVLinks gone": ("nvlink", shown(LAST_LINK, "")),
    "fabric not set up": ("nvlink-fabric", lambda t: t.inject("fabric-manager")),
    "too hot": ("throttle", lambda t: t.inject("thermal-slowdown", 2)),
    "power brake": ("throttle", lambda t: t.inject("power-brake", 7)),
    "an Xid for a reboot": ("xid", lambda t: t.write("/kernel.log", XID.format(79, "fallen off the bus"))),
    "an Xid that tells its action": ("xid", lambda t: t.write("/kernel.log", XID.format(154, CHANGED))),
    "a GPU that somebody cut": ("mig", shown("Completed, Disabled", "Completed, Enabled")),
    "a row waits": ("ecc", shown("0, No, No", "0, Yes, No")),
    "no spare row": ("ecc", shown("0, No, No", "0, No, Yes")),
    "uncorrected errors": ("ecc", shown("0, No, No", "2, No, No")),
    "a card gone": ("fabric-cards", lambda t: t.inject("nic-missing", 3)),
    "a card down": ("fabric-cards", lambda t: t.inject("nic-down", 4)),
    "a slow card": ("fabric-cards", lambda t: t.inject("nic-slow", 5)),
    "64 KiB may be locked": ("memlock", lambda t: t.write("/memlock", "65536\n")),
    "a card renamed": ("link-names", renamed),
    "home not mounted": ("mounts", lambda t: t.mounted("overlay / overlay rw 0 0")),
    "home read-only": ("mounts", lambda t: t.mounted("server:/home /home nfs4 ro,hard 0 0")),
    "home does not answer": ("mounts", lambda t: t.program("stat", "echo 'Stale file handle'; exit 1")),
    "clock not synchronised": ("clock", lambda t: t.program("timedatectl", "echo no")),
    "a memory module gone": ("memory", lambda t: t.memory(1_900_000_000, 900_000_000)),
    "memory all used": ("memory", lambda t: t.memory(1 << 31, 4096)),
    "a CPU offline": ("cpus", one_cpu_offline),
}  # fmt: skip


@needs_mknod
def test_a_healthy_node_passes_every_gate(healthy: Tree) -> None:
    code, gates, report = healthy.run()
    assert code == 0
    assert set(gates.values()) == {"pass"}
    assert list(gates) == [
        "plan", "name", "stack", "driver-loaded", "user-driver", "kernel", "secure-boot", "modules",
        "gpus", "gpu-driver", "gpu-devices", "gpu-services", "persistence", "pci-link", "nvlink",
        "nvlink-fabric", "mig", "ecc",
        "throttle", "xid", "fabric-cards", "link-names", "memlock", "mounts", "clock", "disk",
        "memory", "cpus",
    ]  # fmt: skip
    assert report["passed"] and report["node"] == "gpu-001" and report["version"] == 1


@needs_mknod
def test_a_node_of_dnf_passes_as_one_of_apt_does(healthy: Tree) -> None:
    healthy.rpms()
    assert healthy.failed() == []


@needs_mknod
@pytest.mark.parametrize("change", CHANGES)
def test_one_change_fails_exactly_its_gate(change: str, healthy: Tree) -> None:
    gate, apply = CHANGES[change]
    apply(healthy)
    assert healthy.failed() == [gate]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 2, "hardware": {"gpus": []}}', "\x00"])
def test_a_damaged_plan_is_a_failed_gate_and_no_traceback(healthy: Tree, text: str) -> None:
    healthy.write("/etc/clusterwright/node.json", text)
    code, gates, _ = healthy.run()
    assert (code, gates) == (1, {"plan": "fail"})


@needs_mknod
def test_slurm_told_to_believe_the_configuration_changes_the_bound_and_not_the_gate(healthy: Tree) -> None:
    healthy.expected["config_overrides"] = True
    healthy.plan()
    healthy.memory(8_000_000, 4_000_000)
    one_cpu_offline(healthy)
    _, gates, report = healthy.run()
    assert gates["memory"] == gates["cpus"] == "pass"
    assert "191 CPUs, Slurm counts 192" in str(report["gates"])
    healthy.memory(8_000_000, 1000)
    assert healthy.run()[1]["memory"] == "fail"


def test_a_daemon_that_is_started_anew_is_no_fault(healthy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = in_process(healthy, monkeypatch)
    unit, active = healthy.root / "units/nvidia-dcgm.service", healthy.root / "active"
    unit.rename(active)
    unit.write_text(active.read_text().replace("=active", "=activating"))
    pause = SimpleNamespace(sleep=lambda _: active.replace(unit))
    monkeypatch.setattr(import_module("gates.stack"), "time", pause)
    assert examined(gate, healthy, "quick")["gpu-services"] == "pass"
    assert not active.exists()


@needs_mknod
def test_200_clean_runs_have_no_false_alarm(healthy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = in_process(healthy, monkeypatch)
    healthy.program("nvidia-smi", smi(8))
    alarms = []
    for _ in range(200):
        report = gate.examine(gate.Node(str(healthy.root), 60.0), "quick")
        alarms += [row for row in report["gates"] if row["status"] != "pass"]
    assert alarms == []


def test_a_node_without_gpus_has_no_gpu_gates(healthy: Tree) -> None:
    healthy.expected["hardware"]["gpus"] = []
    healthy.plan()
    assert not {"gpus", "gpu-driver", "gpu-devices", "ecc", "nvlink"} & set(healthy.run()[1])


@needs_mknod
def test_a_driver_of_the_site_that_the_rest_is_made_for_passes(healthy: Tree) -> None:
    driver_of_the_site(DRIVER)(healthy)
    assert healthy.failed() == []
    assert healthy.seen("driver-loaded") == f"driver {DRIVER}"


def test_a_system_that_may_not_set_the_clock_is_not_asked_to(healthy: Tree) -> None:
    healthy.write("/proc/1/status", "CapBnd:\t00000000fdecbfff\n")
    healthy.program("timedatectl", "echo no")
    assert healthy.run()[1]["clock"] == "pass"


def test_what_nvidia_smi_said_last_is_what_was_seen(healthy: Tree) -> None:
    healthy.program("nvidia-smi", "echo a note >&2; echo 'No devices were found'; exit 6")
    _, _, report = healthy.run()
    [seen] = [gate["seen"] for gate in report["gates"] if gate["name"] == "gpus"]
    assert seen == "nvidia-smi failed: No devices were found"


def test_a_hung_program_is_named(healthy: Tree) -> None:
    healthy.program("nvidia-smi", "exec sleep 30")
    _, gates, report = healthy.run("--quick")
    assert gates["user-driver"] == "fail"
    assert gates["gpus"] == gates["ecc"] == gates["nvlink"] == "skip", "it is asked once"
    assert "no answer in 8 s" in str(report["gates"])


def test_boot_waits_for_a_mount_that_comes_late(healthy: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    healthy.mounted("overlay / overlay rw 0 0")
    gate, waited = in_process(healthy, monkeypatch), list[float]()

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            healthy.mounted("server:/home /home nfs4 rw,hard 0 0")

    clock = SimpleNamespace(sleep=sleep, monotonic=lambda: 100.0 + sum(waited), time=time.time)
    monkeypatch.setattr(gate, "time", clock)
    assert examined(gate, healthy, "boot")["mounts"] == "pass"
    assert waited == [0.5, 0.5]


def test_a_full_disk_fails(monkeypatch: pytest.MonkeyPatch, healthy: Tree) -> None:
    monkeypatch.syspath_prepend(str(FILES))
    host, node = import_module("gates.host"), import_module("gates.node")
    machine = node.Node(str(healthy.root), 3.0)
    full = os.statvfs_result((4096, 4096, 1000, 10, 10, 1000, 500, 500, 0, 255))
    monkeypatch.setattr(host.os, "statvfs", lambda _: full)
    with pytest.raises(node.Unmet, match="256 MiB free in /"):
        host.disk(machine)
    no_inodes = os.statvfs_result((4096, 4096, 1 << 30, 1 << 30, 1 << 30, 1000, 0, 0, 0, 255))
    monkeypatch.setattr(host.os, "statvfs", lambda _: no_inodes)
    with pytest.raises(node.Unmet, match="free inodes in /"):
        host.disk(machine)


@pytest.mark.parametrize(
    "file", [FILES / "gate", *sorted((FILES / "gates").glob("*.py"))], ids=lambda f: f.name
)
def test_the_oldest_python_of_a_node_reads_it(file: Path) -> None:
    ast.parse(file.read_text(), feature_version=(3, 9))


def test_every_module_is_placed_on_nodes() -> None:
    rows = yaml.safe_load((FILES.parent / "node.yml").read_text())["files"]
    placed = {row["path"] for row in rows if row["source"].startswith("gates/")}
    assert placed == {f"/usr/lib/clusterwright/gates/{file.name}" for file in (FILES / "gates").glob("*.py")}
