"""A made node for the gate program: its files, its programs, and hardware in the lab's simulators."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clusterwright.providers.lab.cards import write_cards
from clusterwright.providers.lab.simulate import write_tree
from clusterwright.providers.lab.simulators import client_state, faults
from clusterwright.providers.lab.simulators.hardware import (
    Hardware,
)
from clusterwright.providers.lab.simulators.kernel_log import lines

REPOSITORY = Path(__file__).parents[2]
XID = "NVRM: Xid (PCI:0000:52:00): {}, pid='<unknown>', name=<unknown>, {}\n"
NEXT_KERNEL = "/lib/modules/6.12.48-amd64/modules.order"
FILES = REPOSITORY / "roles" / "node_gate" / "files"
GATE = FILES / "gate"
needs_mknod = pytest.mark.skipif(os.geteuid() != 0, reason="device nodes need root")

DRIVER = "580.95.05"
STACK: dict[str, dict[str, Any]] = {
    "driver": {
        "version": DRIVER,
        "flavour": "open",
        "packages": {"nvidia-open": f"{DRIVER}-1", "nvidia-driver": None},
        "services": ["nvidia-persistenced"],
        "hold": ["nvidia-open"],
    },
    "fabric_manager": {
        "version": DRIVER,
        "flavour": "",
        "packages": {"nvidia-fabricmanager": f"{DRIVER}-1"},
        "services": ["nvidia-fabricmanager"],
        "hold": ["nvidia-fabricmanager"],
    },
    "dcgm": {
        "version": "4.4.2",
        "flavour": "",
        "packages": {"datacenter-gpu-manager-4-core": "1:4.4.2-1"},
        "services": ["nvidia-dcgm"],
        "hold": [],
    },
    "gdrcopy": {
        "version": "2.5.1",
        "flavour": "",
        "packages": {"gdrdrv-dkms": None},
        "services": [],
        "hold": [],
    },
    "kernel": {
        "version": "6.12",
        "flavour": "amd64",
        "packages": {"linux-image-amd64": None, "linux-headers-amd64": None},
        "services": [],
        "hold": ["linux-image-amd64", "linux-headers-amd64"],
    },
    "slurm": {
        "version": "24.11.5",
        "flavour": "",
        "packages": {"slurmd": "24.11.5-4"},
        "services": ["slurmd"],
        "hold": [],
    },
}
UNITS = ["slurmd.service", "nvidia-persistenced", "nvidia-fabricmanager", "nvidia-dcgm"]
_SIMULATOR = """#!{python} -S
import sys
from pathlib import Path
sys.path.insert(0, {package!r})
from simulators.launch import main
folder = Path({folder!r})
places = {{"own": folder / "own", "markers": folder / "markers", "mounts": folder / "mountinfo"}}
sys.exit(main({name!r}, state=folder, **places))
"""


def loaded() -> ModuleType:
    """The program itself, in this process."""
    spec = spec_from_loader("gate", SourceFileLoader("gate", str(GATE)))
    assert spec and spec.loader
    gate = module_from_spec(spec)
    spec.loader.exec_module(gate)
    return gate


def in_process(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The gate program, for a test that stands in for its clock."""
    monkeypatch.syspath_prepend(str(FILES))
    monkeypatch.setenv("PATH", f"{tree.bin}:/usr/bin:/bin")
    return loaded()


@dataclass
class Tree:
    """A node's files under `root`, the programs it has in `bin`, what its simulators show in `simulated`."""

    root: Path
    bin: Path
    simulated: Path
    expected: dict[str, Any]
    hardware: Hardware

    def write(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def program(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def kernel(self, release: str) -> None:
        """Installed, with headers and everything that is built for it."""
        self.write(f"/lib/modules/{release}/modules.order", "")
        self.write(f"/lib/modules/{release}/build/Makefile", "")
        for module in ("gdrdrv", "nvidia", "nvidia_uvm"):
            self.write(f"/built/{release}/{module}", f"updates/dkms/{module}.ko")

    def mounted(self, lines: str) -> None:
        self.write("/proc/self/mounts", lines + "\n")

    def memory(self, total: int, available: int) -> None:
        self.write("/proc/meminfo", f"MemTotal: {total} kB\nMemAvailable: {available} kB\n")

    def plan(self) -> None:
        self.write("/etc/clusterwright/node.json", json.dumps(self.expected))

    def packages(self, **changes: str) -> None:
        """What dpkg tells: as locked and held, but for `name="version want state"`."""
        rows = {}
        for part in STACK.values():
            for name, version in part["packages"].items():
                rows[name] = f"{version or '1.0'} {'hold' if name in part['hold'] else 'install'} installed"
        rows |= {name.replace("_", "-"): text for name, text in changes.items()}
        lines = "".join(
            "\t".join([name, *text.split()]) + "\n" for name, text in sorted(rows.items()) if text
        )
        self.write("/dpkg", lines)

    def rpms(self, *, version: str = "", unheld: str = "", gone: str = "") -> None:
        """A node of dnf, as locked and held, but for one package of this version, one not held, one gone."""
        self.expected["packages"] = "rpm"
        self.plan()
        rows = {name: seen or "1.0-1" for part in STACK.values() for name, seen in part["packages"].items()}
        held = {name: f"{name}-0:{seen}.*\n" for name, seen in rows.items() if name != unheld}
        self.write("/etc/dnf/plugins/versionlock.list", "# held\n" + "".join(held.values()))
        rows |= {"nvidia-fabricmanager": version} if version else {}
        told = [f"{name}\t0\t{seen}" for name, seen in rows.items() if name != gone]
        self.write("/rpm", "\n".join([*told, *([f"package {gone} is not installed"] if gone else [])]))
        self.program("rpm", f"cat {self.root}/rpm; exit {int(bool(gone))}")

    def services(self, **states: str) -> None:
        """States of units that are not active."""
        names = [f"{unit.removesuffix('.service')}.service" for unit in UNITS]
        shown = {
            name: states.get(name.removesuffix(".service").replace("-", "_"), "active") for name in names
        }
        for name, state in shown.items():
            result = "success" if state == "active" else "exit-code"
            self.write(f"/units/{name}", f"Id={name}\nActiveState={state}\nResult={result}\n\n")

    def show(self, hardware: Hardware) -> None:
        """Everything that follows from the state of the hardware."""
        self.hardware = hardware
        self.simulated.mkdir(exist_ok=True)
        (self.simulated / "hardware.json").write_text(json.dumps(hardware.as_json()))
        loaded = hardware.loaded_driver or hardware.driver_version
        what = f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {loaded}  Release Build  (root)\n"
        self.write("/proc/driver/nvidia/version", what)
        self.write("/kernel.log", "".join(f"{line}\n" for line in lines(hardware)))
        write_cards(self.root / "sys/bus/pci/drivers", hardware)
        shown = client_state.tree(hardware)
        for kind, place in (("beegfs", "proc/fs"), ("ceph", "sys/kernel/debug")):
            own = {path: text for path, text in shown.items() if path.startswith(f"{kind}/")}
            write_tree(self.root / place, own)

    def inject(self, fault: str, index: int = 0) -> None:
        self.simulator("nvidia-smi")
        self.show(faults.inject(self.hardware, fault, index))

    def simulator(self, name: str) -> None:
        package = str(REPOSITORY / "src/clusterwright/providers/lab")
        text = _SIMULATOR.format(
            python=sys.executable, package=package, folder=str(self.simulated), name=name
        )
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def setting(self, name: str, value: object) -> None:
        """What the simulators of the node remember."""
        settings = self.simulated / "own/settings.json"
        settings.write_text(json.dumps({**json.loads(settings.read_text()), name: value}))

    def run(self, *options: str) -> tuple[int, dict[str, str], dict[str, Any]]:
        """Exit status, status by gate, and the whole report."""
        environment = {**os.environ, "PATH": f"{self.bin}:/usr/bin:/bin"}
        command = [sys.executable, str(GATE), *options, "--json", "--root", str(self.root)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        assert done.stdout, done.stderr
        report = json.loads(done.stdout)
        assert report == json.loads((self.root / "run/clusterwright/gate.json").read_text())
        return done.returncode, {gate["name"]: gate["status"] for gate in report["gates"]}, report

    def failed(self, *options: str) -> list[str]:
        """Names of the gates that did not pass, each of which says what it wants and what to do."""
        code, gates, report = self.run(*options)
        bad = [row for row in report["gates"] if row["status"] == "fail"]
        assert code == (1 if bad else 0)
        assert all(row["expected"] and row["seen"] and row["remedy"] for row in bad)
        return [name for name, status in gates.items() if status == "fail"]

    def seen(self, gate: str, *options: str) -> str:
        _, _, report = self.run(*options)
        return str(next(row["seen"] for row in report["gates"] if row["name"] == gate))


def renamed(tree: Tree) -> None:
    assert tree.failed() == []
    card = tree.root / "sys/bus/pci/drivers/mlx5_core/0000:e0:01.0/infiniband"
    (card / "mlx5_0").rename(card / "ibp1s0")
