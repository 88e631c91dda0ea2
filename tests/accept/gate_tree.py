"""A made node for the gate program: its files, its programs, and hardware in the lab's simulators."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clusterwright.catalog import gpu_health
from clusterwright.catalog.machines import machine, virtual_mtu
from clusterwright.providers.lab.cards import write_cards
from clusterwright.providers.lab.simulate import write_tree
from clusterwright.providers.lab.simulators import client_state, faults
from clusterwright.providers.lab.simulators.hardware import (
    Hardware,
    SimulatedGpu,
    SimulatedNic,
    SimulatedShare,
)
from clusterwright.providers.lab.simulators.kernel_log import lines

REPOSITORY = Path(__file__).parents[2]
XID = "NVRM: Xid (PCI:0000:52:00): {}, pid='<unknown>', name=<unknown>, {}\n"
NEXT_KERNEL = "/lib/modules/6.12.48-amd64/modules.order"
FILES = REPOSITORY / "roles" / "node_gate" / "files"
GATE = FILES / "gate"
LOCAL_MAJOR = 240  # local and experimental use: never a real GPU
needs_mknod = pytest.mark.skipif(os.geteuid() != 0, reason="device nodes need root")

H100 = "NVIDIA H100 80GB HBM3"
BUSES = ("1B", "43", "52", "61", "9D", "C3", "D1", "DF", "F1")
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

    def with_lustre(self, networks: Mapping[str, list[str]] | None = None) -> None:
        """The plan has a Lustre file system, and it is mounted."""
        networks = networks or {"o2ib": ["ib0", "ib1"]}
        network = next(iter(networks))
        share = SimulatedShare("lustre", "scratch", (f"10.0.0.5@{network}",), "/run/simulated-shares/scratch")
        self.show(replace(self.hardware, shares=(share,), address="10.0.0.11", ethernet_gbps=100))
        mounts = "1 2 8:1 /shares/scratch /run/simulated-shares/scratch rw - ext4 x rw\n"
        (self.simulated / "mountinfo").write_text(
            mounts + "3 2 8:1 /shares/scratch /scratch rw - ext4 x rw\n"
        )
        modules = self.simulated / "own/modules"
        modules.mkdir()
        for name in ("lnet", "lustre"):
            (modules / name).write_text("2.15.8 simulated\n")
        settings = self.simulated / "own/settings.json"
        settings.write_text(json.dumps({**json.loads(settings.read_text()), "lnet": networks}))
        self.write("/sys/module/lnet/initstate", "live\n")
        for name in ("lctl", "lfs", "lnetctl"):
            self.simulator(name)
        home = "overlay / overlay rw 0 0\nserver:/home /home nfs4 rw,hard 0 0"
        self.mounted(f"{home}\n10.0.0.5@{network}:/scratch /scratch lustre rw 0 0")
        (self.root / "scratch").mkdir()
        self.expected["mounts"] = ["/home", "/scratch"]
        self.expected["file_systems"] = {
            "/scratch": {"kind": "lustre", "file_system": "scratch", "networks": sorted(networks)}
        }
        self.expected["lnet"] = {name: len(interfaces) for name, interfaces in networks.items()}
        self.plan()

    def with_beegfs(self, *, rdma: bool = True) -> None:
        """The plan has a BeeGFS file system, and it is mounted."""
        share = SimulatedShare("beegfs", "bee1", ("bee1",), "/run/simulated-shares/beegfs-bee1")
        self._with("/work", "beegfs_nodev", share, {"kind": "beegfs", "management": "bee1", "rdma": rdma})

    def with_cephfs(self) -> None:
        """The plan has a CephFS, and it is mounted."""
        fsid, folder = "7a3c0e9e-1f5c-4a2b-9d3e-0f1a2b3c4d5e", "/run/simulated-shares/cephfs"
        configuration = self.root / "etc/ceph/planned.conf"
        self.write("/etc/ceph/planned.conf", f"[global]\nfsid = {fsid}\n")
        share = SimulatedShare("cephfs", "cephfs", ("mon1", "mon2"), folder, fsid=fsid)
        row = {"kind": "cephfs", "fsid": fsid, "user": "hpc", "configuration": str(configuration)}
        self.simulator("ceph")
        self._with("/data", "10.0.0.5:6789:/", share, row)

    def with_weka(self) -> None:
        """The plan has a WEKA file system, and it is mounted."""
        share = SimulatedShare("weka", "scratch", ("10.0.0.7",), "/run/simulated-shares/weka-scratch")
        mounts = "1 2 8:1 /shares/weka /run/simulated-shares/weka-scratch rw - ext4 x rw\n"
        (self.simulated / "mountinfo").write_text(mounts + "3 2 8:1 /shares/weka /fast rw - ext4 x rw\n")
        self.simulator("weka")
        self._with("/fast", "10.0.0.7/scratch", share, {"kind": "weka", "file_system": "scratch"})

    def _with(self, point: str, what: str, share: SimulatedShare, row: Mapping[str, Any]) -> None:
        self.show(replace(self.hardware, shares=(share,), address="10.0.0.11", ethernet_gbps=100))
        home = "overlay / overlay rw 0 0\nserver:/home /home nfs4 rw,hard 0 0"
        self.mounted(f"{home}\n{what} {point} {row['kind']} rw 0 0")
        (self.root / point.lstrip("/")).mkdir()
        self.expected["mounts"] = ["/home", point]
        self.expected["file_systems"] = {point: row}
        self.plan()

    def run(self, *options: str) -> tuple[int, dict[str, str], dict[str, Any]]:
        """Exit status, status by gate, and the whole report."""
        environment = {**os.environ, "PATH": f"{self.bin}:/usr/bin:/bin"}
        command = [sys.executable, str(GATE), *options, "--json", "--root", str(self.root)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
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


def smi(count: int, *, model: str = H100, memory: int | str = 81559) -> str:
    """A shell script's lines: what nvidia-smi tells of so many healthy GPUs."""
    rest = "Enabled, 0, No, No, Not Active, Not Active, Not Active, 5, 16, Completed, Disabled"
    table = "\n".join(
        f"echo '{index}, {model}, {memory}, 00000000:{BUSES[index]}:00.0, {rest}'" for index in range(count)
    )
    links = "".join(f"\\n\\t Link {link}: 26.562 GB/s" for link in range(18))
    shown = "\n".join(
        f"printf 'GPU {index}: {model} (UUID: GPU-{index}){links}\\n'" for index in range(count)
    )
    return f'if [ "$1" = nvlink ]; then\n{shown}\nelse\n{table}\nfi'


def healthy(folder: Path, machine_type: str = "lab-h100") -> Tree:
    """A node that is what its plan says."""
    hardware = machine(machine_type)
    assert hardware is not None
    gpus = tuple(
        SimulatedGpu(gpu.minor, hardware.gpu_model or "", gpu.pci or f"0000:{gpu.minor:02x}:00.0",
                     f"GPU-{gpu.minor}", hardware.gpu_memory_mib or 0)
        for gpu in hardware.gpus
    )  # fmt: skip
    mtu = virtual_mtu(machine_type) or 1500
    nics = tuple(
        SimulatedNic(f"{nic.kind}{nic.index}", nic.gbps, kind=nic.kind, mtu=mtu) for nic in hardware.nics
    )
    simulated = Hardware(gpus, nics, driver_version=DRIVER, nvlink_domain=hardware.nvlink_domain or 0)
    tree = Tree(folder / "root", folder / "bin", folder / "simulated", {}, simulated)
    tree.bin.mkdir()
    tree.expected = {
        "version": 1,
        "cluster": "lab",
        "node": "gpu-001",
        "roles": ["compute"],
        "hardware": asdict(hardware),
        "config_overrides": False,
        "mounts": ["/home"],
        "units": UNITS,
        "stack": STACK,
        "card_mtu": virtual_mtu(machine_type),
        "gpu_health": gpu_health.expected(hardware),
    }
    tree.plan()
    tree.show(simulated)
    (tree.simulated / "own").mkdir()
    (tree.simulated / "own" / "settings.json").write_text('{"persistence_mode": true}')
    _system(tree, hardware.memory_mib, hardware.cpus)
    (tree.root / "dev").mkdir()
    for gpu in gpus:
        tree.write(f"/proc/driver/nvidia/gpus/{gpu.pci}/information", f"Device Minor: \t {gpu.minor}\n")
    devices = {f"nvidia{gpu.minor}": gpu.minor for gpu in gpus} | {"nvidiactl": 255}
    for name, minor in devices.items() if os.geteuid() == 0 else ():
        os.mknod(tree.root / "dev" / name, 0o666 | stat.S_IFCHR, os.makedev(LOCAL_MAJOR, minor))
    return tree


def _system(tree: Tree, memory_mib: int, cpus: int) -> None:
    tree.write("/proc/sys/kernel/hostname", "gpu-001\n")
    tree.write("/proc/sys/kernel/osrelease", "6.12.43-amd64\n")
    for module in ("gdrdrv", "nvidia", "nvidia_uvm"):
        tree.write(f"/sys/module/{module}/initstate", "live\n")
    tree.write("/etc/clusterwright/modules.d/driver", "nvidia\nnvidia_uvm\n")
    tree.write("/etc/clusterwright/modules.d/gdrcopy", "gdrdrv\n")
    tree.kernel("6.12.43-amd64")
    tree.mounted("overlay / overlay rw 0 0\nserver:/home /home nfs4 rw,hard 0 0")
    tree.write("/proc/1/status", "Name:\tsystemd\nCapBnd:\t000001ffffffffff\n")
    tree.memory(memory_mib << 10, 900_000_000)
    tree.write("/proc/cpuinfo", "".join(f"processor\t: {n}\n\n" for n in range(cpus)))
    (tree.root / "home").mkdir()
    tree.packages()
    tree.services()
    tree.write("/memlock", "infinity\n")
    root = tree.root
    tree.program("timedatectl", "echo yes")
    tree.program("dpkg-query", f"cat {root}/dpkg")
    tree.program(
        "modinfo",
        f"""[ -e {root}/built/$2/$5 ] || {{ echo "modinfo: ERROR: Module $5 not found."; exit 1; }}
case $4 in
filename) echo "/lib/modules/$2/$(cat {root}/built/$2/$5)" ;;
*) cat {root}/built/$4 2> /dev/null || true ;;
esac""",
    )
    tree.program(
        "systemctl",
        f"""case "$*" in
*LimitMEMLOCK*) cat {root}/memlock ;;
*) shift 2; for unit; do cat {root}/units/$unit; done ;;
esac""",
    )
    tree.program(
        "journalctl",
        f"""case "$*" in
*--unit*) echo "it said why" ;;
*--since=*) exit 1 ;;
*) grep 'NVRM: Xid' {root}/kernel.log ;;
esac""",
    )
    if tree.hardware.gpus[0].model == H100:
        tree.program("nvidia-smi", smi(8))  # as the simulator answers, and ten times as fast
    else:
        tree.simulator("nvidia-smi")


def renamed(tree: Tree) -> None:
    assert tree.failed() == []
    card = tree.root / "sys/bus/pci/drivers/mlx5_core/0000:e0:01.0/infiniband"
    (card / "mlx5_0").rename(card / "ibp1s0")
