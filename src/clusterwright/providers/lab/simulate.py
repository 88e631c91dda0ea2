"""Simulated GPUs and network cards of a node: everything in the node that shows them reads one state file.

The device nodes use major numbers that Linux keeps for local and experimental use (devices.txt: 120-127),
never the driver's own 195, so that no program in a node can reach a real GPU of the host.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files as package_files
from importlib.resources.abc import Traversable
from pathlib import Path

from clusterwright.finding import Where, refuse
from clusterwright.providers.lab.cards import write_cards
from clusterwright.providers.lab.files import link, place, remove_tree, write_atomically, write_json
from clusterwright.providers.lab.simulators import capabilities, client_state, rdma
from clusterwright.providers.lab.simulators.facts import model_named
from clusterwright.providers.lab.simulators.hardware import (
    GpuState,
    Hardware,
    SimulatedGpu,
    SimulatedNic,
    SimulatedShare,
)
from clusterwright.providers.lab.simulators.kernel_log import lines as kernel_log

__all__ = ["GpuState", "Hardware", "SimulatedGpu", "SimulatedNic", "SimulatedShare"]
NODE_FOLDER = "/run/simulated-hardware"
PROGRAMS = "/usr/lib/simulated-hardware"
ATTACH = f"{PROGRAMS}/attach"
NO_LOCAL_MAJOR = "CW7050"
_LOCAL_MAJORS = range(120, 128)
_CONTROL_MINOR = 255  # what the vendor's driver uses for /dev/nvidiactl
_UNIT = "simulated-hardware.service"
_KERNELS = """\
# A container boots no kernel: the one that is locked is SIMULATED, and the real one never fetched.
Package: linux-image-* linux-headers-*
Pin: origin ""
Pin-Priority: 1001

Package: linux-image-* linux-headers-* linux-kbuild-*
Pin: release *
Pin-Priority: -1
"""

_LOADED_BY_SYSTEMD = """\
# A container may load no module of its host's kernel; those of simulated packages it has to itself.
[Unit]
ConditionCapability=
ConditionPathExists=/usr/lib/simulated-hardware/markers/modules/%i

[Service]
ExecStart=
ExecStart=-/usr/local/sbin/modprobe -abq %i
"""


def write_hardware(folder: Path, hardware: Hardware) -> None:
    """Make the trees under `folder` show the hardware; safe while a node has them mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    amd = [gpu for gpu in hardware.present if _is_amd(gpu)]
    nvidia = [gpu for gpu in hardware.present if not _is_amd(gpu)]
    _write_proc(folder / "proc" / "nvidia", nvidia)
    _write_sys(folder / "sys" / "nvidia", nvidia)
    _write_sys(folder / "sys" / "amdgpu", amd)
    write_cards(folder / "sys", hardware)
    _write_devices(folder / "dev", _amd_devices(amd) if amd else _devices(nvidia))
    if any(model_named(gpu.model).mig for gpu in nvidia):
        _write_capabilities(folder, replace(hardware, gpus=tuple(nvidia)))
    write_tree(folder / "class", rdma.tree(hardware))
    write_tree(folder / "clients", client_state.tree(hardware))
    write_words(folder, hardware)
    write_json(folder / "hardware.json", hardware.as_json())


def install(root: Path) -> None:
    """Place the simulators into a node's root; `attach` and simulated packages link those it can use."""
    package = package_files("clusterwright.providers.lab")
    programs = package / "simulated"
    for name in ("attach", "nvidia-smi", "nvml"):
        place(root, f"{PROGRAMS}/{name}", (programs / name).read_text(), 0o755)
    # Over real ones: rates and the firmware follow the simulated state, and some images cannot be had.
    for name in ("fio", "ib_write_bw", "mokutil", "podman"):
        launcher = (programs / "nvidia-smi").read_text().replace('"nvidia-smi"', f'"{name}"')
        place(root, f"/usr/local/bin/{name}", launcher, 0o755)
    # What the backends' installer leaves; `attach` shows it to a node with such a share.
    for name, path in (
        ("weka", "bin/weka"),
        ("weka-agent", "bin/weka-agent"),
        ("mount.wekafs", "sbin/mount.wekafs"),
    ):
        launcher = (programs / "nvidia-smi").read_text().replace('"nvidia-smi"', f'"{name}"')
        place(root, f"{PROGRAMS}/weka/{path}", launcher, 0o755)
    place(root, "/etc/systemd/system/weka-agent.service", (programs / "weka-agent.service").read_text())
    place(root, "/usr/local/sbin/modprobe", (programs / "modprobe").read_text(), 0o755)
    place(root, "/etc/systemd/system/modprobe@.service.d/simulated.conf", _LOADED_BY_SYSTEMD)
    _place_package(root, f"{PROGRAMS}/simulators", package / "simulators")
    place(root, f"/etc/systemd/system/{_UNIT}", (programs / _UNIT).read_text())
    place(root, "/etc/apt/preferences.d/00-simulated", _KERNELS)
    # Of two packages with one name and version apt takes the first: the distribution's come last.
    place(root, "/etc/apt/apt.conf.d/00-simulated", 'Dir::Etc::SourceList "/dev/null";\n')
    link(root, "/etc/apt/sources.list.d/distribution.list", "../sources.list")
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


def _amd_devices(present: list[SimulatedGpu]) -> dict[str, tuple[int, int]]:
    """`attach` shows the render nodes in /dev/dri."""
    major, _ = local_majors()
    return {"kfd": (major, 0)} | {f"renderD{128 + gpu.minor}": (major, 128 + gpu.minor) for gpu in present}


def _write_capabilities(folder: Path, hardware: Hardware) -> None:
    """What MIG instances are opened by; they share the second major, which has few other numbers."""
    (folder / "caps").mkdir(exist_ok=True)
    (folder / "proc" / "nvidia-caps").mkdir(exist_ok=True)
    write_atomically(folder / "proc" / "nvidia-caps" / "mig-minors", capabilities.minors(hardware))
    _, major = local_majors()
    _write_devices(
        folder / "caps",
        {f"nvidia-cap{number}": (major, number) for number in capabilities.in_use(hardware)},
    )


def _is_amd(gpu: SimulatedGpu) -> bool:
    return gpu.model.startswith("AMD")


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


def write_words(folder: Path, hardware: Hardware) -> None:
    """What the shell script `attach` needs to know, one fact a file."""
    write_atomically(folder / "nics", "".join(f"{nic.name} {nic.state}\n" for nic in hardware.nics))
    write_atomically(folder / "driver", f"{hardware.loaded_driver or hardware.driver_version}\n".lstrip())
    write_atomically(folder / "kernel-log", "".join(f"{line}\n" for line in kernel_log(hardware)))
    plugin = "FasTrak plug-in" if hardware.tcpxo_plugin == "ok" else "FasTrak plug-in of another release"
    write_atomically(folder / "tcpxo-plugin", f"{plugin} (simulated by clusterwright)\n")
    vendors = {"amd" if _is_amd(gpu) else "nvidia" for gpu in hardware.present}
    flags = {
        "preinstalled": bool(hardware.driver_version),
        "rxdm-failed": hardware.rxdm == "failed",
        "weka": any(share.kind == "weka" for share in hardware.shares),
        **{vendor: vendor in vendors for vendor in ("amd", "nvidia")},
    }
    for name, flag in flags.items():
        if flag:
            write_atomically(folder / name, "")
        else:
            (folder / name).unlink(missing_ok=True)


def write_tree(folder: Path, files: Mapping[str, str]) -> None:
    """Exactly these files; the folders at the top stay, because a node has them mounted."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        name = path.relative_to(folder)
        if path.is_file() and str(name) not in files:
            path.unlink()
        elif path.is_dir() and len(name.parts) > 1 and not any(path.iterdir()):
            path.rmdir()
    for wanted, text in files.items():
        file = folder / wanted
        if not file.exists() or file.read_text(encoding="utf-8") != f"{text}\n":
            file.parent.mkdir(parents=True, exist_ok=True)
            partial = file.with_name(f".{file.name}.partial")
            partial.write_text(f"{text}\n", encoding="utf-8")
            partial.rename(file)


def _place_package(root: Path, target: str, folder: Traversable) -> None:
    for part in sorted(folder.iterdir(), key=lambda part: part.name):
        if part.is_dir() and part.name != "__pycache__":
            _place_package(root, f"{target}/{part.name}", part)
        elif part.name.endswith((".py", ".csv", ".txt")):
            place(root, f"{target}/{part.name}", part.read_text(encoding="utf-8"))


def _write_proc(folder: Path, present: list[SimulatedGpu]) -> None:
    """The shape of /proc/driver/nvidia, as Slurm's gpu/nvidia plugin reads it."""
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
    """The shape of /sys/bus/pci/drivers/DRIVER."""
    _drop_others(folder, present)
    for gpu in present:
        write_atomically(folder / gpu.pci / "local_cpulist", f"{gpu.cpu_list}\n")


def _drop_others(folder: Path, present: list[SimulatedGpu]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {gpu.pci for gpu in present}
    for path in folder.iterdir():
        if path.name not in wanted:
            remove_tree(path)
