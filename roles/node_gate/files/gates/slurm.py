"""What Slurm is told of this node, as its HealthCheckProgram."""

from __future__ import annotations

import os

from gates.node import Node

OWN_REASON = "clusterwright: gate "  # a drain with another reason is somebody else's and is never undone,
OVERWRITTEN = "gres/gpu count reported lower"  # but slurmctld replaces it by this when slurmd restarts


def tell(node: Node, report: dict) -> None:
    """Drain when a gate failed, undrain what this program drained.

    slurmctld is asked only when there may be something to change, so that a healthy fleet sends it nothing:
    /run/clusterwright/drain says how it was left, and is absent after a boot.
    """
    failed = [gate for gate in report["gates"] if gate["status"] == "fail"]
    if not failed and node.read("/run/clusterwright/drain") == "no":
        return
    hostname = report["node"] or os.uname().nodename.split(".")[0]
    status, seen = node.run("scontrol", "show", "node", hostname, "--oneliner")
    if status:
        return
    drained = "+DRAIN" in seen.partition(" State=")[2].split(" ")[0]
    reason = seen.partition(" Reason=")[2].partition(" [")[0]
    own = reason.startswith((OWN_REASON, OVERWRITTEN))
    change = f"nodename={hostname}"
    if failed:
        first = failed[0]
        wanted = f"{OWN_REASON}{first['name']}: expected {first['expected']}, seen {first['seen']}"
        if not drained or (own and not reason.startswith(f"{OWN_REASON}{first['name']}:")):
            status, _ = node.run("scontrol", "update", change, "state=drain", f"reason={wanted}")
    elif drained and own:
        status, _ = node.run("scontrol", "update", change, "state=undrain")
    if not status:
        node.keep("drain", "yes" if failed else "no")
