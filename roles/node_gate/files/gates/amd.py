"""AMD's GPUs, by rocm-smi."""

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
