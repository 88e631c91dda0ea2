"""A made node that is what its plan says."""

from __future__ import annotations

import os
import stat
from dataclasses import asdict
from pathlib import Path

from gate_tree import DRIVER, STACK, UNITS, Tree

from clusterwright.catalog import gpu_health
from clusterwright.catalog.machines import machine, virtual_mtu
from clusterwright.providers.lab.simulators.hardware import Hardware, SimulatedGpu, SimulatedNic

H100 = "NVIDIA H100 80GB HBM3"
BUSES = ("1B", "43", "52", "61", "9D", "C3", "D1", "DF", "F1")
LOCAL_MAJOR = 240  # local and experimental use: never a real GPU


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
