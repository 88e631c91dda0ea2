"""The gate program against made trees: a healthy node passes, and one change fails exactly one gate."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from clusterwright.handoff import Handoff

GATE = Path(__file__).parents[2] / "roles" / "node_gate" / "files" / "gate"
LOCAL_MAJOR = 240  # local and experimental use: never a real GPU
needs_mknod = pytest.mark.skipif(os.geteuid() != 0, reason="device nodes need root")


@dataclass
class Tree:
    """A node's files under `root`, and the programs it has in `bin`."""

    root: Path
    bin: Path
    expected: dict[str, Any]

    def write(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def mounted(self, lines: str) -> None:
        self.write("/proc/self/mounts", lines + "\n")

    def memory(self, total: int, available: int) -> None:
        self.write("/proc/meminfo", f"MemTotal: {total} kB\nMemAvailable: {available} kB\n")

    def plan(self) -> None:
        self.write("/etc/clusterwright/node.json", json.dumps(self.expected))

    def run(self, *options: str) -> tuple[int, dict[str, str], dict[str, Any]]:
        """Exit status, status by gate, and the whole report."""
        environment = {**os.environ, "PATH": f"{self.bin}:/usr/bin:/bin"}
        command = [sys.executable, str(GATE), *options, "--json", "--root", str(self.root)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        report = json.loads(done.stdout)
        assert report == json.loads((self.root / "run/clusterwright/gate.json").read_text())
        return done.returncode, {gate["name"]: gate["status"] for gate in report["gates"]}, report


def smi(count: int, *, model: str = "NVIDIA H100 80GB HBM3", memory: int | str = 81559) -> str:
    return "\n".join(f"echo '{index}, {model}, {memory}'" for index in range(count))


@pytest.fixture
def healthy(tmp_path: Path, lab: Handoff) -> Tree:
    tree = Tree(tmp_path / "root", tmp_path / "bin", {})
    tree.bin.mkdir()
    hardware = asdict(lab.hardware[lab.by_name["gpu-001"].machine])
    tree.expected = {
        "version": 1,
        "cluster": "lab",
        "node": "gpu-001",
        "roles": ["compute"],
        "hardware": hardware,
        "config_overrides": False,
        "mounts": ["/home"],
        "units": ["slurmd.service"],
    }
    tree.plan()
    tree.write("/proc/sys/kernel/hostname", "gpu-001\n")
    tree.mounted("overlay / overlay rw 0 0\nserver:/home /home nfs4 rw,hard 0 0")
    tree.write("/proc/1/status", "Name:\tsystemd\nCapBnd:\t000001ffffffffff\n")
    tree.memory(hardware["memory_mib"] << 10, 900_000_000)
    tree.write("/proc/cpuinfo", "".join(f"processor\t: {n}\n\n" for n in range(192)))
    tree.program("timedatectl", "echo yes")
    tree.program("nvidia-smi", smi(8))
    (tree.root / "home").mkdir()
    (tree.root / "dev").mkdir()
    for gpu in hardware["gpus"]:
        information = f"Model: \t\t NVIDIA H100 80GB HBM3\nDevice Minor: \t {gpu['minor']}\n"
        tree.write(f"/proc/driver/nvidia/gpus/{gpu['pci']}/information", information)
    devices = {f"nvidia{gpu['minor']}": gpu["minor"] for gpu in hardware["gpus"]} | {"nvidiactl": 255}
    for name, minor in devices.items() if os.geteuid() == 0 else ():
        os.mknod(tree.root / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(LOCAL_MAJOR, minor))
    return tree


def no_gpu_0_in_the_driver(tree: Tree) -> None:
    shutil.rmtree(next((tree.root / "proc/driver/nvidia/gpus").iterdir()))


def a_file_for_a_device(tree: Tree) -> None:
    (tree.root / "dev/nvidia3").unlink()
    (tree.root / "dev/nvidia3").touch()


def one_cpu_offline(tree: Tree) -> None:
    text = (tree.root / "proc/cpuinfo").read_text()
    tree.write("/proc/cpuinfo", text.replace("processor\t: 191\n", ""))


CHANGES: dict[str, tuple[str, Callable[[Tree], object]]] = {
    "another host name": ("name", lambda t: t.write("/proc/sys/kernel/hostname", "gpu-009")),
    "seven GPUs": ("gpus", lambda t: t.program("nvidia-smi", smi(7))),
    "nine GPUs": ("gpus", lambda t: t.program("nvidia-smi", smi(9))),
    "another model": ("gpus", lambda t: t.program("nvidia-smi", smi(8, model="NVIDIA L4"))),
    "half the GPU memory": ("gpus", lambda t: t.program("nvidia-smi", smi(8, memory=40000))),
    "GPU memory not readable": ("gpus", lambda t: t.program("nvidia-smi", smi(8, memory="[N/A]"))),
    "nvidia-smi fails": ("gpus", lambda t: t.program("nvidia-smi", "echo 'No devices were found'; exit 6")),
    "no nvidia-smi": ("gpus", lambda t: (t.bin / "nvidia-smi").unlink()),
    "driver without one": ("gpu-driver", no_gpu_0_in_the_driver),
    "device node missing": ("gpu-devices", lambda t: (t.root / "dev/nvidia3").unlink()),
    "device node is a file": ("gpu-devices", a_file_for_a_device),
    "control device missing": ("gpu-devices", lambda t: (t.root / "dev/nvidiactl").unlink()),
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
        "plan", "name", "gpus", "gpu-driver", "gpu-devices", "mounts", "clock", "disk", "memory", "cpus",
    ]  # fmt: skip
    assert report["passed"] and report["node"] == "gpu-001" and report["version"] == 1


@needs_mknod
@pytest.mark.parametrize("change", CHANGES)
def test_one_change_fails_exactly_its_gate(change: str, healthy: Tree) -> None:
    gate, apply = CHANGES[change]
    apply(healthy)
    code, gates, report = healthy.run()
    assert code == 1
    assert [name for name, status in gates.items() if status == "fail"] == [gate]
    failed = next(row for row in report["gates"] if row["status"] == "fail")
    assert failed["expected"] and failed["seen"] and failed["remedy"]


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


def test_a_node_without_gpus_has_no_gpu_gates(healthy: Tree) -> None:
    healthy.expected["hardware"]["gpus"] = []
    healthy.plan()
    assert not {"gpus", "gpu-driver", "gpu-devices"} & set(healthy.run()[1])


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
    assert gates["gpus"] == "fail"
    assert "no answer in 3 s" in str(report["gates"])


def test_boot_waits_for_a_mount_that_comes_late(healthy: Tree) -> None:
    healthy.mounted("overlay / overlay rw 0 0")
    late = "server:/home /home nfs4 rw,hard 0 0"
    mounts = healthy.root / "proc/self/mounts"
    healthy.program("nvidia-smi", f"(sleep 1; echo '{late}' > {mounts}) >/dev/null 2>&1 & {smi(8)}")
    _, gates, report = healthy.run("--boot")
    assert gates["mounts"] == "pass"
    assert next(gate["seconds"] for gate in report["gates"] if gate["name"] == "mounts") >= 0.5


def test_a_full_disk_fails(monkeypatch: pytest.MonkeyPatch, healthy: Tree) -> None:
    monkeypatch.syspath_prepend(str(GATE.parent))
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


class Slurm:
    """A scontrol that shows one node and records what it was told."""

    def __init__(self, tree: Tree, state: str, reason: str = "") -> None:
        self._log = tree.root / "scontrol.log"
        self._log.touch()
        shown = f"NodeName=gpu-001 Arch=x86_64 State={state} ThreadsPerCore=2"
        shown += f" Reason={reason} [root@2026-11-21T13:51:26]" if reason else ""
        tree.program("scontrol", f'echo "$@" >> {self._log}\n[ "$1" = show ] && echo "{shown}"\nexit 0')

    @property
    def told(self) -> list[str]:
        return [line for line in self._log.read_text().splitlines() if line.startswith("update")]

    @property
    def asked(self) -> int:
        return len(self._log.read_text().splitlines())


def test_quick_drains_with_its_own_reason(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    healthy.program("nvidia-smi", smi(7))
    assert healthy.run("--quick")[0] == 1
    expected = "8 x NVIDIA H100 80GB HBM3, seen 7 GPUs by nvidia-smi"
    reason = f"reason=clusterwright: gate gpus: expected {expected}"
    assert slurm.told == [f"update nodename=gpu-001 state=drain {reason}"]


OWN = "clusterwright: gate gpus: expected 8 x NVIDIA H100, seen 7 GPUs by nvidia-smi"


@needs_mknod
@pytest.mark.parametrize("reason", [OWN, "gres/gpu count reported lower than configured (7 < 8)"])
def test_quick_undrains_what_it_drained(healthy: Tree, reason: str) -> None:
    slurm = Slurm(healthy, "IDLE+DRAIN", reason)
    assert healthy.run("--quick")[0] == 0
    assert slurm.told == ["update nodename=gpu-001 state=undrain"]


@needs_mknod
@pytest.mark.parametrize("reason", ["fan 3", "clusterwright: replaced by the operator", "Kill task failed"])
def test_quick_never_undoes_the_drain_of_another(healthy: Tree, reason: str) -> None:
    slurm = Slurm(healthy, "IDLE+DRAIN", reason)
    assert healthy.run("--quick")[0] == 0
    healthy.program("nvidia-smi", smi(7))
    assert healthy.run("--quick")[0] == 1
    assert slurm.told == []


@needs_mknod
def test_a_healthy_node_asks_slurm_once_per_boot(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    for _ in range(3):
        healthy.run("--quick")
    assert slurm.asked == 1


def test_the_same_failure_is_told_once(healthy: Tree) -> None:
    healthy.program("nvidia-smi", smi(7))
    slurm = Slurm(healthy, "IDLE+DRAIN", OWN)
    healthy.run("--quick")
    assert slurm.told == []


@needs_mknod
def test_only_quick_talks_to_slurm(healthy: Tree) -> None:
    slurm = Slurm(healthy, "IDLE")
    healthy.run()
    healthy.run("--boot")
    assert slurm.asked == 0
