"""`destroy`: leave nothing, also of a cluster that is half-made or whose state cannot be read."""

from __future__ import annotations

from clusterwright.event import Event, Report
from clusterwright.finding import Refused, Where, refuse
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.machines import Machines
from clusterwright.operate.provider import machines_by_name
from clusterwright.operate.stack.beside import stacks_of


def destroy(cluster: Cluster, report: Report) -> tuple[str, ...]:
    """Remove the machines and everything that is kept of the cluster; returns the names of its nodes."""
    home = cluster.home
    for name in stacks_of(home):
        what = f"machines of its site in the cloud are there, in the stack '{name}'"
        raise refuse("CW8321", Where(path=home.name), what, f"Run `clusterwright destroy {name}` first")
    with home.locked():
        machines = _machines(cluster)
        nodes = tuple(machines.existing())
        report(Event("destroy", "started", f"{len(nodes)} nodes"))
        machines.destroy(report)
        home.forget()
        report(Event("destroy", "ok", "nothing is left"))
    return nodes


def _machines(cluster: Cluster) -> Machines:
    try:
        return cluster.machines
    except Refused as refusal:
        if any(finding.code in ("CW2001", "CW2002") for finding in refusal.findings):
            return machines_by_name(cluster.name)
        raise
