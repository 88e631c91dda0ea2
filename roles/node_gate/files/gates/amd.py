"""AMD's GPUs, by rocm-smi and amd-smi."""

from __future__ import annotations

import json

from gates.node import Node, Unmet, Unseen

MEMORY_SHARE = 0.95
REMEDY = "Look for amdgpu lines in `dmesg`, reset the GPU (`rocm-smi --gpureset`), or replace the node"


def gpus(node: Node) -> str:
    """The driver shows exactly the planned GPUs: number and memory."""
    planned, memory = node.hardware["gpus"], node.hardware["gpu_memory_mib"] or 0
    expected = f"{len(planned)} x {node.hardware['gpu_model'] or 'GPU'}"
    status, output = node.run("rocm-smi", "--showmeminfo", "vram", "--json")
    if status == 127:
        raise Unseen("rocm-smi is not installed")
    try:
        cards = {
            name: row for name, row in json.loads(output[output.index("{") :]).items() if name[:4] == "card"
        }
    except (ValueError, AttributeError):
        said = (output or f"exit status {status}").splitlines()[-1]
        raise Unmet(expected, f"rocm-smi failed: {said}", REMEDY) from None
    if len(cards) != len(planned):
        raise Unmet(expected, f"{len(cards)} GPUs by rocm-smi", REMEDY)
    for name, row in sorted(cards.items()):
        seen = int(row.get("VRAM Total Memory (B)", 0)) >> 20
        if seen < memory * MEMORY_SHARE:
            raise Unmet(f"{memory} MiB on each GPU", f"{name} has {seen} MiB", REMEDY)
    return expected


def ecc(node: Node) -> str:
    """No GPU counts an uncorrectable memory error since the driver was loaded."""
    status, output = node.run("amd-smi", "metric", "--ecc", "--json")
    if status == 127:
        raise Unseen("amd-smi is not installed")
    try:
        document = json.loads(output)
    except ValueError:
        said = (output or f"exit status {status}").splitlines()[-1]
        raise Unseen(f"amd-smi does not tell: {said}") from None
    # From ROCm 7 on the rows are below a key.
    rows = document.get("gpu_data", []) if isinstance(document, dict) else document
    for row in rows:
        counts = row.get("ecc")
        count = str(counts.get("total_uncorrectable_count", "")) if isinstance(counts, dict) else ""
        if count.isdigit() and int(count):
            seen = f"GPU {row.get('gpu')}: {count} since the driver was loaded"
            remedy = "Drain the node, look at `amd-smi bad-pages`, and reboot: the driver retires pages then"
            raise Unmet("no uncorrectable memory error", seen, remedy)
    return "no uncorrectable memory error"
