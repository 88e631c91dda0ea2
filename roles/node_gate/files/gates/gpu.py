"""The GPUs: as many as planned, of the planned kind, held by the driver and reachable."""

from __future__ import annotations

import stat

from gates import smi
from gates.node import Node, Unmet, Unseen

GPU_MEMORY_SHARE = 0.95  # ECC and firmware keep a part of what the product name says
MISMATCH = "Driver/library version mismatch"


def user_driver(node: Node) -> str:
    """nvidia-smi answers: the driver's libraries fit the kernel module that is loaded."""
    status, output = smi.ask(node)
    if not status or status == smi.NO_DEVICE:
        return "nvidia-smi answers"
    said = (output or f"exit status {status}").splitlines()
    mismatch = next((line for line in said if MISMATCH in line), "")
    if mismatch:
        remedy = "The packages were changed and the old module is still loaded: drain and reboot the node"
        raise Unmet("libraries of the loaded driver", mismatch, remedy)
    remedy = "Look for NVRM lines in `dmesg` and at `modinfo nvidia`, reboot the node, or replace it"
    raise Unmet("nvidia-smi answers", f"nvidia-smi failed: {said[-1]}", remedy)


def gpus(node: Node) -> str:
    """The driver shows exactly the planned GPUs: number, model and memory."""
    planned, model = node.hardware["gpus"], node.hardware["gpu_model"]
    memory = node.hardware["gpu_memory_mib"] or 0
    expected = f"{len(planned)} x {model or 'GPU'}"
    remedy = "Look for Xid and PCI lines in `dmesg`, reset or reseat the GPU, or replace the node"
    status, output = smi.ask(node)
    if status == smi.NO_DEVICE:
        raise Unmet(expected, f"nvidia-smi failed: {(output or 'no output').splitlines()[-1]}", remedy)
    rows = smi.rows(node)
    if len(rows) != len(planned):
        raise Unmet(expected, f"{len(rows)} GPUs by nvidia-smi", remedy)
    for row in rows:
        index, seen = row["index"], row["memory.total"]
        if model and row["name"] != model:
            remedy = "Correct the pool's machine type, or the machine"
            raise Unmet(expected, f"GPU {index} is {row['name']}", remedy)
        if not seen.isdigit() or int(seen) < memory * GPU_MEMORY_SHARE:
            raise Unmet(f"{memory} MiB on each GPU", f"GPU {index} has {seen} MiB", remedy)
    return expected


def gpu_driver(node: Node) -> str:
    """The kernel driver holds them under the planned minors: Slurm's AutoDetect reads the same files."""
    planned = sorted(gpu["minor"] for gpu in node.hardware["gpus"])
    seen = []
    for file in sorted(node.path("/proc/driver/nvidia/gpus").glob("*/information")):
        fields = dict(line.split(":", 1) for line in file.read_text().splitlines() if ":" in line)
        seen.append(int(fields.get("Device Minor", "-1")))
    if sorted(seen) != planned:
        remedy = "Load the driver (`modprobe nvidia`), and look for PCI errors in `dmesg`"
        raise Unmet(f"driver minors {_ranges(planned)}", _ranges(sorted(seen)), remedy)
    return f"minors {_ranges(planned)}"


def gpu_devices(node: Node) -> str:
    """Every planned device node is a character device, and there is none besides."""
    planned = sorted(gpu["minor"] for gpu in node.hardware["gpus"])
    found = [path for path in node.path("/dev").glob("nvidia*") if path.name[6:].isdigit()]
    seen = sorted(int(path.name[6:]) for path in found if stat.S_ISCHR(path.stat().st_mode))
    if seen != planned:
        remedy = "Run `nvidia-modprobe -u -c=0`, or reboot the node"
        raise Unmet(f"/dev/nvidia[{_ranges(planned)}]", f"/dev/nvidia[{_ranges(seen)}]", remedy)
    control = node.path("/dev/nvidiactl")
    if not (control.exists() and stat.S_ISCHR(control.stat().st_mode)):
        raise Unmet("/dev/nvidiactl", "none", "Run `nvidia-modprobe -u -c=0`, or reboot the node")
    return f"/dev/nvidia[{_ranges(planned)}]"


def pci_link(node: Node) -> str:
    """Each GPU has the PCI generation and width that its model has."""
    generation, width = node.health["pcie_generation"], node.health["pcie_width"]
    expected = f"PCI generation {generation}, {width} lanes"
    for row in smi.rows(node):
        # The generation that the link can have: an idle GPU goes down to the first by itself.
        seen = row.get("pcie.link.gen.max", ""), row.get("pcie.link.width.current", "")
        if not all(figure.isdigit() for figure in seen):
            raise Unseen("this nvidia-smi does not tell the PCI link")
        if int(seen[0]) < generation or int(seen[1]) < width:
            remedy = (
                "Reseat the GPU or its riser; look at `lspci -vv` (LnkSta) and the firmware's PCI settings"
            )
            raise Unmet(expected, f"GPU {row['index']}: generation {seen[0]}, {seen[1]} lanes", remedy)
    return expected


def persistence(node: Node) -> str:
    """The driver stays initialised between jobs: the first program of a job does not wait for it."""
    off = [row["index"] for row in smi.rows(node) if row.get("persistence_mode") == "Disabled"]
    if off:
        remedy = "Look at `systemctl status nvidia-persistenced`: its unit needs --persistence-mode"
        raise Unmet("persistence mode on", f"off on GPU {', '.join(off)}", remedy)
    return "on"


def _ranges(numbers: list[int]) -> str:
    """0,1,2,5 as `0-2,5`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans) or "none"
