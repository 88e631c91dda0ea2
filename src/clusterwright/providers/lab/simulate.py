"""Simulated GPUs and network cards of a node: everything in the node that shows them reads one state file.

The device nodes use major numbers that Linux keeps for local and experimental use (devices.txt: 120-127),
never the driver's own 195, so that no program in a node can reach a real GPU of the host.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources import files as package_files
from pathlib import Path
from typing import Literal

from clusterwright.finding import Where, refuse
from clusterwright.providers.lab.files import link, place, remove_tree, write_atomically, write_json

GpuState = Literal["ok", "failed", "missing"]
NODE_FOLDER = "/run/simulated-hardware"
ATTACH = "/usr/lib/simulated-hardware/attach"
NO_LOCAL_MAJOR = "CW7050"
_LOCAL_MAJORS = range(120, 128)
_CONTROL_MINOR = 255  # what the vendor's driver uses for /dev/nvidiactl
_UNIT = "simulated-hardware.service"


@dataclass(frozen=True, slots=True)
class SimulatedGpu:
    """One GPU as the vendor's driver would show it. `failed` is visible but unusable, `missing` is gone."""

    minor: int
    model: str
    pci: str
    uuid: str
    memory_mib: int = 0
    cpu_list: str = ""
    state: GpuState = "ok"


@dataclass(frozen=True, slots=True)
class SimulatedNic:
    """One network card of the compute fabric; the interface exists, its rate and PCI address are words."""

    name: str
    rate_gbps: int = 0
    pci: str = ""


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a node pretends to have."""

    gpus: tuple[SimulatedGpu, ...] = ()
    nics: tuple[SimulatedNic, ...] = ()
    driver_version: str = ""

    def without_faults(self) -> Hardware:
        return replace(self, gpus=tuple(replace(gpu, state="ok") for gpu in self.gpus))

    def with_gpu(self, minor: int, state: GpuState) -> Hardware:
        """The same hardware with one GPU in this state."""
        return replace(
            self, gpus=tuple(replace(gpu, state=state) if gpu.minor == minor else gpu for gpu in self.gpus)
        )

    def as_json(self) -> dict[str, object]:
        return {
            "simulated": True,
            "driver_version": self.driver_version,
            "gpus": [asdict(gpu) for gpu in self.gpus],
            "nics": [asdict(nic) for nic in self.nics],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, object]) -> Hardware:
        gpus, nics = document.get("gpus", []), document.get("nics", [])
        if not isinstance(gpus, list) or not isinstance(nics, list):
            raise TypeError("gpus and nics are lists")
        return cls(
            tuple(SimulatedGpu(**gpu) for gpu in gpus),
            tuple(SimulatedNic(**nic) for nic in nics),
            str(document.get("driver_version", "")),
        )


def write_hardware(folder: Path, hardware: Hardware) -> None:
    """Make the trees under `folder` show the hardware; safe while a node has them mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    present = [gpu for gpu in hardware.gpus if gpu.state != "missing"]
    _write_proc(folder / "proc" / "nvidia", hardware.driver_version, present)
    _write_sys(folder / "sys" / "nvidia", present)
    _write_devices(folder / "dev", _devices(present))
    write_atomically(folder / "nics", "".join(f"{nic.name}\n" for nic in hardware.nics))
    write_json(folder / "hardware.json", hardware.as_json())


def install(root: Path) -> None:
    """Place the simulator's programs into a node's root; `attach` links those the node can use."""
    programs = package_files("clusterwright.providers.lab") / "simulated"
    place(root, ATTACH, (programs / "attach").read_text(), 0o755)
    place(root, "/usr/lib/simulated-hardware/nvidia-smi", (programs / "nvidia-smi").read_text(), 0o755)
    place(root, f"/etc/systemd/system/{_UNIT}", (programs / _UNIT).read_text())
    link(root, f"/etc/systemd/system/sysinit.target.wants/{_UNIT}", f"../{_UNIT}")


def local_majors(devices: str | None = None) -> tuple[int, int]:
    """Two local-use major numbers that no driver of this host has taken: for GPUs and for `nvidia-uvm`."""
    text = Path("/proc/devices").read_text() if devices is None else devices
    characters = text.partition("Block devices:")[0]
    taken = {int(line.split()[0]) for line in characters.splitlines() if line[:3].strip().isdigit()}
    free = [major for major in _LOCAL_MAJORS if major not in taken]
    if len(free) < 2:
        raise refuse(
            NO_LOCAL_MAJOR,
            Where(file="/proc/devices"),
            "drivers of this host use the device numbers that are kept for local use (120-127)",
            "Unload the driver that registers them; the simulated GPUs need two",
        )
    return free[0], free[1]


def _devices(present: list[SimulatedGpu]) -> dict[str, tuple[int, int]]:
    if not present:
        return {}
    gpu_major, uvm_major = local_majors()
    control = {"nvidiactl": (gpu_major, _CONTROL_MINOR), "nvidia-uvm": (uvm_major, 0)}
    return control | {f"nvidia{gpu.minor}": (gpu_major, gpu.minor) for gpu in present}


def _write_devices(folder: Path, wanted: Mapping[str, tuple[int, int]]) -> None:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in wanted:
            path.unlink()
    for name, (major, minor) in wanted.items():
        path = folder / name
        number = os.makedev(major, minor)
        if path.exists() and path.stat().st_rdev != number:
            path.unlink()
        if not path.exists():
            os.mknod(path, stat.S_IFCHR | 0o666, number)
            path.chmod(0o666)


def _write_proc(folder: Path, driver_version: str, present: list[SimulatedGpu]) -> None:
    """The shape of /proc/driver/nvidia, as Slurm's gpu/nvidia plugin reads it."""
    if driver_version:
        write_atomically(folder / "version", f"NVRM version: simulated {driver_version}\n")
    _drop_others(folder / "gpus", present)
    for gpu in present:
        lines = {
            "Model": gpu.model,
            "IRQ": "0",
            "GPU UUID": gpu.uuid,
            "Bus Type": "PCIe",
            "Bus Location": gpu.pci,
            "Device Minor": str(gpu.minor),
        }
        text = "".join(f"{key}: \t {value}\n" for key, value in lines.items())
        write_atomically(folder / "gpus" / gpu.pci / "information", text)


def _write_sys(folder: Path, present: list[SimulatedGpu]) -> None:
    """The shape of /sys/bus/pci/drivers/nvidia."""
    _drop_others(folder, present)
    for gpu in present:
        write_atomically(folder / gpu.pci / "local_cpulist", f"{gpu.cpu_list}\n")


def _drop_others(folder: Path, present: list[SimulatedGpu]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {gpu.pci for gpu in present}
    for path in folder.iterdir():
        if path.name not in wanted:
            remove_tree(path)
