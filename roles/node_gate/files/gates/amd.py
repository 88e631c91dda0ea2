"""AMD's GPUs, by rocm-smi and amd-smi."""

from __future__ import annotations

import json
import time

from gates.node import Node, Unmet, Unseen

MEMORY_SHARE = 0.95
MOMENT_SECONDS = 0.3
NOT_TOLD = "N/A"
# What amd-smi calls a violation, and is one: package power (ppt) is the limit that every busy GPU works at.
# (rocm.docs.amd.com/projects/amdsmi, "GPU violations")
SLOWDOWNS = {
    "socket_thermal_violation_status": "too hot",
    "hbm_thermal_violation_status": "its memory is too hot",
    "vr_thermal_violation_status": "its voltage regulators are too hot",
    "prochot_violation_status": "the platform asks for slower clocks (PROCHOT)",
}
BAD_PAGES = (
    (
        "un_res",
        "bad pages out of use",
        "bad pages that cannot be taken out of use",
        "Replace the GPU: its driver has no way around these pages",
    ),
    (
        "pending",
        "no page that waits to be retired",
        "pages wait to be retired",
        "Drain the node and reboot: the driver retires pages when it is loaded",
    ),
)
# By the GT/s of a lane, which an Instinct GPU keeps at rest (github.com/amd/node-scraper 1.2 asks for 32).
GENERATIONS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}
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
    for row in _rows(_asked(node, "metric", "--ecc")):
        counts = row.get("ecc")
        count = str(counts.get("total_uncorrectable_count", "")) if isinstance(counts, dict) else ""
        if count.isdigit() and int(count):
            seen = f"GPU {row.get('gpu')}: {count} since the driver was loaded"
            remedy = "Drain the node, look at `amd-smi bad-pages`, and reboot: the driver retires pages then"
            raise Unmet("no uncorrectable memory error", seen, remedy)
    return "no uncorrectable memory error"


def bad_pages(node: Node) -> str:
    """No page of memory waits to be retired, and none is bad that could not be."""
    retired, rows = 0, _rows(_asked(node, "bad-pages"))
    if all(row.get("retired", NOT_TOLD) == NOT_TOLD for row in rows):
        raise Unseen("amd-smi tells no bad pages: a virtual machine is not told")
    for row in rows:
        retired += _pages(row, "retired")
        for key, expected, what, remedy in BAD_PAGES:
            count = _pages(row, key)
            if count:
                raise Unmet(expected, f"GPU {row.get('gpu')}: {count} {what}", remedy)
    return f"{retired} pages are retired and out of use" if retired else "no bad page"


def _pages(row: dict, key: str) -> int:
    """A list, or the record alone where there is one; words where there is none (amdsmi_commands.py)."""
    found = row.get(key)
    return len(found) if isinstance(found, list) else int(isinstance(found, dict))


def throttle(node: Node) -> str:
    """No GPU is slowed by heat or by the platform; seen twice, as a moment of it is no fault."""
    if _slowed(node, first=True):
        time.sleep(MOMENT_SECONDS)
        slowed = _slowed(node)
        if slowed:
            remedy = "Look at fans, air or water flow and power supplies (`amd-smi metric --violation`)"
            raise Unmet("clocks that the hardware does not hold down", slowed[0], remedy)
    return "not slowed"


def _slowed(node: Node, first: bool = False) -> list[str]:
    rows = [
        row for row in _rows(_asked(node, "metric", "--violation")) if isinstance(row.get("throttle"), dict)
    ]
    told = [row["throttle"].get(field, NOT_TOLD) for row in rows for field in SLOWDOWNS]
    if first and all(state == NOT_TOLD for state in told):
        raise Unseen("amd-smi tells no violations of limits")
    return [
        f"GPU {row.get('gpu')}: {why}"
        for row in rows
        for field, why in SLOWDOWNS.items()
        if row["throttle"].get(field) == "ACTIVE"
    ]


def xgmi(node: Node) -> str:
    """Every GPU has its link to each other GPU of the node."""
    planned, told = node.health["xgmi_links"], 0
    for row in _with(_asked(node, "xgmi", "--link-status"), "link_status"):
        states = [str(state) for state in row["link_status"]]
        if not set(states) - {"N/A", "SELF"}:
            continue  # a virtual machine is not told
        told += 1
        up = sum(set(state.split("/")) == {"U"} for state in states)
        if up < planned:
            end = "GPU" if "SELF" in states else "port"  # before ROCm 7 by port, which tells no peer
            dark = [f"{end} {number}" for number, state in enumerate(states) if set(state) & {"D", "X"}]
            seen = f"GPU {row.get('gpu')}: {up} up" + (f", down: {', '.join(dark)}" if dark else "")
            remedy = "Reset the GPUs (`amd-smi reset --gpureset`) or reboot; when it stays, replace the board"
            raise Unmet(f"{planned} XGMI links up on each GPU", seen, remedy)
    if not told:
        raise Unseen("amd-smi tells no state of XGMI links")
    return f"{planned} XGMI links up on each GPU"


def pci_link(node: Node) -> str:
    """Each GPU has the PCI generation and width that its model has."""
    generation, width, told = node.health["pcie_generation"], node.health["pcie_width"], 0
    expected = f"PCI generation {generation}, {width} lanes"
    for row in _rows(_asked(node, "metric", "--pcie")):
        link = row.get("pcie") if isinstance(row.get("pcie"), dict) else {}
        speed, lanes = link.get("speed"), link.get("width")
        seen = GENERATIONS.get(speed.get("value")) if isinstance(speed, dict) else None
        if seen is None or not isinstance(lanes, int):
            continue  # a virtual machine is not told
        told += 1
        if seen < generation or lanes < width:
            remedy = "Reset the GPUs or reboot; look at `lspci -vv` (LnkSta) and the firmware's PCI settings"
            raise Unmet(expected, f"GPU {row.get('gpu')}: generation {seen}, {lanes} lanes", remedy)
    if not told:
        raise Unseen("amd-smi tells no PCI link")
    return expected


def _asked(node: Node, *words: str) -> object:
    """What amd-smi answers as JSON."""
    status, output = node.run("amd-smi", *words, "--json")
    if status == 127:
        raise Unseen("amd-smi is not installed")
    try:
        return json.loads(output)
    except ValueError:
        said = (output or f"exit status {status}").splitlines()[-1]
        raise Unseen(f"amd-smi does not tell: {said}") from None


def _rows(document: object) -> list[dict]:
    """From ROCm 7 on the rows are below a key."""
    rows = document.get("gpu_data", []) if isinstance(document, dict) else document
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _with(document: object, key: str) -> list[dict]:
    """Every row that has a list of this name, wherever a release puts the rows."""
    if isinstance(document, dict):
        mine = [document] if isinstance(document.get(key), list) and "gpu" in document else []
        return mine or [row for value in document.values() for row in _with(value, key)]
    return [row for part in document for row in _with(part, key)] if isinstance(document, list) else []
