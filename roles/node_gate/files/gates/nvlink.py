"""NVLink: every link of every GPU, and the fabric that the switches make of them."""

from __future__ import annotations

import re

from gates import smi
from gates.node import Node, Unmet, Unseen

GPU_LINE = re.compile(r"GPU (\d+):")
LINK_LINE = re.compile(r"Link (\d+): (\S+)")
INACTIVE = "<inactive>"
UNTOLD = "not supported for Devices in MIG mode"
"""What a driver says of a GPU that is cut into instances, in place of its links."""
UNREADY = ("In Progress", "Not Started")


def nvlink(node: Node) -> str:
    """Every GPU has all links of its model, and none is without a signal."""
    planned = node.health["nvlinks"]
    if node.planned.get("mig") and node.hardware["gpu_generation"] == "ampere":
        raise Unseen("an A100 that is cut into instances (MIG) has its NVLinks off")
    down: dict[str, list[str]] = {row["index"]: [] for row in smi.rows(node)}
    status, output = node.run("nvidia-smi", "nvlink", "--status")
    if status:
        raise Unseen(f"nvidia-smi nvlink: {(output or 'no output').splitlines()[-1]}")
    up = dict.fromkeys(down, 0)
    index = ""
    for line in output.splitlines():
        gpu, link = GPU_LINE.match(line), LINK_LINE.search(line)
        if gpu:
            index = gpu[1]
        elif link and link[2] == INACTIVE:
            down.setdefault(index, []).append(link[1])
        elif link:
            up[index] = up.get(index, 0) + 1
        elif UNTOLD in line:
            down.pop(index, None)
    if not down:
        raise Unseen("nvidia-smi tells nothing of the NVLinks of GPUs that are cut into instances (MIG)")
    for index in down:
        if up[index] < planned:
            dark = f", inactive: {', '.join(down[index])}" if down[index] else ""
            remedy = "Reset the GPUs or reboot; when it stays, the board, an NVSwitch or a cable is broken"
            raise Unmet(
                f"{planned} active links on each GPU", f"GPU {index}: {up[index]} active{dark}", remedy
            )
    return f"{planned} active links on each GPU"


def nvlink_fabric(node: Node) -> str:
    """The switches are set up: until then CUDA refuses to initialise (error 802)."""
    states = {row["index"]: row.get("fabric.state", "[N/A]") for row in smi.rows(node)}
    waiting = [f"GPU {index}: {state}" for index, state in states.items() if state in UNREADY]
    if waiting:
        remedy = "Look at `journalctl -u nvidia-fabricmanager`: its version must equal the driver's"
        raise Unmet("every GPU registered in the NVLink fabric", waiting[0], remedy)
    return "registered" if "Completed" in states.values() else "this GPU model registers nowhere"
