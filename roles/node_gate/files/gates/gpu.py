"""The GPUs: as many as planned, of the planned kind, held by the driver and reachable."""

from __future__ import annotations

import stat

from gates.node import Node, Unmet

GPU_MEMORY_SHARE = 0.95  # ECC and firmware keep a part of what the product name says


def gpus(node: Node) -> str:
    """The driver shows exactly the planned GPUs: number, model and memory."""
    planned, model = node.hardware["gpus"], node.hardware["gpu_model"]
    memory = node.hardware["gpu_memory_mib"] or 0
    expected = f"{len(planned)} x {model or 'GPU'}"
    status, output = node.run(
        "nvidia-smi", "--query-gpu=index,name,memory.total", "--format=csv,noheader,nounits"
    )
    remedy = "Look for Xid and PCI lines in `dmesg`, reset or reseat the GPU, or replace the node"
    if status:
        raise Unmet(expected, f"nvidia-smi failed: {(output or 'no output').splitlines()[-1]}", remedy)
    rows = [[cell.strip() for cell in line.split(",")] for line in output.splitlines() if "," in line]
    if len(rows) != len(planned):
        raise Unmet(expected, f"{len(rows)} GPUs by nvidia-smi", remedy)
    for index, seen_model, seen_memory in rows:
        if model and seen_model != model:
            remedy = "Correct the pool's machine type, or the machine"
            raise Unmet(expected, f"GPU {index} is {seen_model}", remedy)
        if not seen_memory.isdigit() or int(seen_memory) < memory * GPU_MEMORY_SHARE:
            raise Unmet(f"{memory} MiB on each GPU", f"GPU {index} has {seen_memory} MiB", remedy)
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


def _ranges(numbers: list[int]) -> str:
    """0,1,2,5 as `0-2,5`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in spans) or "none"
