"""What Slurm is told of this node, as its HealthCheckProgram."""

from __future__ import annotations

import fcntl
import os

from gates.node import Node

OWN_REASON = "clusterwright: gate "  # a drain with another reason is somebody else's and is never undone,
OVERWRITTEN = "gres/gpu count reported lower"  # but slurmctld replaces it by this when slurmd restarts


def tell(node: Node, report: dict, began: float) -> None:
    """The last word is of whoever looked last: a person or a prolog asks beside slurmd, and who began earlier
    may end later. `began` is of a clock that starts with the machine, as what is kept in /run does.
    """
    lock = node.path("/run/clusterwright/told.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if began < float(node.read("/run/clusterwright/told") or 0.0):
            return
        node.keep("told", f"{began}\n")
        _tell(node, report)


def _tell(node: Node, report: dict) -> None:
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
        # Slurm keeps the reason of a drain in some states, and whoever reads it believes the node to be held.
        status, _ = node.run("scontrol", "update", change, "state=undrain", "reason=")
    if not status:
        node.keep("drain", "yes" if failed else "no")
