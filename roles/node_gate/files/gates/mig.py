"""GPU instances: each where it is planned and complete, and none on GPUs that are whole."""

from __future__ import annotations

import re

from gates import smi
from gates.node import Node, Unmet, Unseen

INSTANCE = re.compile(r"^\|\s+(\d+)\s+MIG \S+\s+(\d+)\s+(\d+)\s+(\d+):\d+", re.MULTILINE)
COMPUTE = re.compile(r"^\|\s+(\d+)\s+(\d+)\s+MIG \S+\s+\d+\s+\d+\s+\d+:\d+", re.MULTILINE)
LINKS = "/dev/mig"
APPLY = "Drain the node and run `systemctl restart clusterwright-mig`; its journal says what it met"


def mig(node: Node) -> str:
    """Every planned instance is there with its compute instance, and Slurm's links lead to their files."""
    plan = node.planned.get("mig", {})
    if not plan:
        cut = [row["index"] for row in smi.rows(node) if row.get("mig.mode.current") == "Enabled"]
        if cut:
            remedy = "Drain the node and run `nvidia-smi -mig 0`, or describe the instances"
            raise Unmet("whole GPUs", f"GPU {cut[0]} is cut into instances (MIG)", remedy)
        return "whole GPUs"
    indices = _by_minor(node)
    for minor in sorted(indices, key=int):
        mode, planned = indices[minor]["mig.mode.current"], plan.get(minor, [])
        if (mode == "Enabled") != bool(planned):
            wanted = "cut into instances" if planned else "whole"
            raise Unmet(f"/dev/nvidia{minor} {wanted}", f"MIG mode {mode.lower()}", APPLY)
    made = INSTANCE.findall(node.run("nvidia-smi", "mig", "-lgi")[1])
    filled = set(COMPUTE.findall(node.run("nvidia-smi", "mig", "-lci")[1]))
    for minor, planned in sorted(plan.items()):
        index = indices[minor]["index"] if minor in indices else ""
        there = {(int(profile), int(start)): number for gpu, profile, number, start in made if gpu == index}
        _complete(node, minor, planned, there, {number for gpu, number in filled if gpu == index})
    return f"{sum(map(len, plan.values()))} instances as planned"


def _complete(node: Node, minor: str, planned: list, there: dict, filled: set) -> None:
    """One GPU."""
    for each in planned:
        place = each["id"], each["start"]
        expected = f"{each['profile']} at slice {each['start']} of /dev/nvidia{minor}"
        if place not in there:
            raise Unmet(expected, "no such instance", APPLY)
        if there[place] not in filled:
            raise Unmet(expected, f"instance {there[place]} has no compute instance", APPLY)
        for kind in ("instance", "compute"):
            if not node.path(f"{LINKS}/{minor}.{each['start']}-{kind}").exists():
                raise Unmet(expected, f"{LINKS}/{minor}.{each['start']}-{kind} leads nowhere", APPLY)
    if len(there) > len(planned):
        raise Unmet(f"{len(planned)} instances on /dev/nvidia{minor}", str(len(there)), APPLY)


def _by_minor(node: Node) -> dict:
    """What nvidia-smi tells of each GPU that can be cut, by the number of its device file."""
    minors = {}
    for file in node.path("/proc/driver/nvidia/gpus").glob("*/information"):
        fields = dict(line.split(":", 1) for line in file.read_text().splitlines() if ":" in line)
        minors[file.parent.name.lower()] = fields.get("Device Minor", "").strip()
    rows = [row for row in smi.rows(node) if row.get("mig.mode.current") in ("Enabled", "Disabled")]
    if not rows:
        raise Unseen("this nvidia-smi does not tell MIG mode")
    found = {minors.get(row["pci.bus_id"].lower()[4:], ""): row for row in rows}
    if "" in found:
        raise Unseen("the driver does not tell a GPU's number, see gpu-driver")
    return found
