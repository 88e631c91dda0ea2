"""Hardware broken on purpose, to see that it is found: only where it is simulated."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from clusterwright.finding import Where, refuse
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.lab.machines import LabMachines
from clusterwright.providers.lab.simulators.faults import FAULTS

_PARTS = {
    "gpu": "GPU {number}: ",
    "nic": "fabric card {number}: ",
    "share": "parallel file system {number}: ",
    "node": "",
}


def faults(number: int | str = "N") -> Mapping[str, str]:
    """Every fault by name: what has it, and what it is."""
    return {fault.name: _PARTS[fault.of].format(number=number) + fault.what for fault in FAULTS.values()}


def break_hardware(cluster: Cluster, text: str, fault: str, number: int) -> tuple[str, ...]:
    """Inject a fault into nodes that run; returns their names."""
    if fault not in FAULTS:
        near = get_close_matches(fault, FAULTS, n=3) or list(FAULTS)
        what, remedy = f"there is no fault '{fault}'", f"Name one of: {', '.join(near)}"
        raise refuse("CW8016", Where(path=fault), what, remedy)
    machines, nodes = simulated(cluster), cluster.nodes(text)
    for node in nodes:
        machines.break_hardware(node, fault, number)
    return nodes


def mend_hardware(cluster: Cluster, text: str, fault: str | None, number: int | None) -> tuple[str, ...]:
    """Take back a fault, or all that were injected; returns the nodes."""
    machines, nodes = simulated(cluster), cluster.nodes(text)
    for node in nodes:
        machines.mend_hardware(node, fault, number)
    return nodes


def simulated(cluster: Cluster) -> LabMachines:
    """The machines of a lab. Raises Refused where they are real."""
    machines = cluster.machines
    if isinstance(machines, LabMachines):
        return machines
    what = "its machines are real, and nothing here breaks those"
    remedy = "Rehearse the cluster with `clusterwright up --lab`, and break the rehearsal"
    raise refuse("CW8015", Where(path=cluster.name), what, remedy)
