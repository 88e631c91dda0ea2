"""What the GPUs' own counters and the kernel's log say of faults: memory, clocks, Xids."""

from __future__ import annotations

import re
import time

from gates import smi
from gates.node import Node, Unmet, Unseen

SLOWDOWNS = {
    "clocks_event_reasons.hw_thermal_slowdown": "too hot",
    "clocks_event_reasons.hw_power_brake_slowdown": "the power supply brakes",
    "clocks_event_reasons.hw_slowdown": "slowed by the hardware",
}
MOMENT_SECONDS = 0.3
XID = re.compile(r"NVRM: Xid \(PCI:([0-9a-fA-F:.]+)\): (\d+)(.*)")
SERIOUS = ("ISOLATE", "REBOOT", "RESET")  # worst first
REPAIRED = "repaired"  # in /run: what the kernel said before this moment is settled
REMEDIES = {
    "ISOLATE": "Take the node out of service; have the GPU's power and seat looked at, or the GPU replaced",
    "REBOOT": "Drain the node and reboot it; replace it when it comes back",
    "RESET": "Drain the node and reboot it, or `nvidia-smi --gpu-reset` and run `gate --repaired`",
}


def ecc(node: Node) -> str:
    """No uncorrectable memory error since the driver was loaded, and no row left to be remapped."""
    for row in smi.rows(node):
        where = f"GPU {row['index']} ({row['pci.bus_id']})"
        if row.get("remapped_rows.failure") == "Yes":
            remedy = "No spare row is left: replace the GPU"
            raise Unmet("memory that can be repaired", f"{where}: a row could not be remapped", remedy)
        errors = row.get("ecc.errors.uncorrected.volatile.total", "")
        remedy = (
            "Drain the node and reset the GPU (`nvidia-smi --gpu-reset`) or reboot: it remaps the row then"
        )
        if errors.isdigit() and int(errors):
            raise Unmet(
                "no uncorrectable memory error", f"{where}: {errors} since the driver was loaded", remedy
            )
        if row.get("remapped_rows.pending") == "Yes":
            raise Unmet("no row to be remapped", f"{where}: a row waits to be remapped", remedy)
    return "no uncorrectable memory error"


def throttle(node: Node) -> str:
    """No GPU is slowed by heat or by the power supply; seen twice, as a moment of it is no fault."""
    if _slowed(smi.rows(node)):
        time.sleep(MOMENT_SECONDS)
        slowed = _slowed(smi.again(node))
        if slowed:
            index, why = slowed[0]
            remedy = "Look at fans, air or water flow and power supplies (`nvidia-smi -q -d PERFORMANCE`)"
            raise Unmet("clocks that the hardware does not hold down", f"GPU {index}: {why}", remedy)
    return "not slowed"


def _slowed(rows: list[dict]) -> list[tuple[str, str]]:
    return [
        (row["index"], why) for row in rows for field, why in SLOWDOWNS.items() if row.get(field) == "Active"
    ]


def xid(node: Node) -> str:
    """Since boot the driver logged no Xid that takes a GPU out of service."""
    since = node.read(f"/run/clusterwright/{REPAIRED}").strip()
    command = ["journalctl", "--boot", "--identifier=kernel", "--grep=NVRM: Xid", "--output=cat"]
    command += ["--quiet", "--no-pager", *([f"--since=@{since}"] if since else [])]
    status, output = node.run(*command)
    if status not in (0, 1):  # 1: no line matches
        raise Unseen(f"the kernel's log cannot be read: {(output or 'journalctl failed').splitlines()[-1]}")
    found = [match.groups() for match in map(XID.search, output.splitlines()) if match]
    worst = None
    for pci, number, text in found:
        action = _action(node, int(number), text)
        if action in SERIOUS and (worst is None or SERIOUS.index(action) < SERIOUS.index(worst[0])):
            worst = action, pci, number, text
    if worst:
        action, pci, number, text = worst
        seen = f"Xid {number} of the GPU at {pci} ({action})"
        words = text.rpartition("name=")[2].partition(", ")[2] or text.strip(", ")
        raise Unmet("no Xid that asks for a repair", f"{seen}: {words}" if words else seen, REMEDIES[action])
    numbers = sorted({int(number) for _, number, _ in found})
    return f"only to be watched: {', '.join(map(str, numbers))}" if numbers else "none"


def _action(node: Node, number: int, text: str) -> str:
    """What the table says; Xid 154 itself tells what the GPU needs."""
    action = next((name for name, numbers in node.health["xids"].items() if number in numbers), "MONITOR")
    if action != "TEXT":
        return action
    if "Reboot" in text:
        return "REBOOT"
    return "RESET" if "Reset" in text else "MONITOR"


def settle(node: Node) -> None:
    """A person repaired what the kernel has told until now."""
    node.keep(REPAIRED, f"{time.time():.0f}\n")
