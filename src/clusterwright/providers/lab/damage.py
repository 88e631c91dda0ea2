"""What is broken of a node's simulated hardware on purpose, and mended again."""

from __future__ import annotations

from clusterwright.finding import Refused, Where, refuse
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.machine import hardware_of, set_hardware
from clusterwright.providers.lab.simulate import Hardware
from clusterwright.providers.lab.simulators import faults

NO_SUCH_GPU = "CW7012"


def inject(lab: Lab, node: str, fault: str, index: int = 0) -> None:
    """Break something, by a name of `simulators.faults.FAULTS`."""
    try:
        broken = faults.inject(_hardware(lab, node), fault, index)
    except faults.NoSuchPart as no_such:
        raise _no_such_part(lab, node, str(no_such)) from None
    set_hardware(lab.machine(node), broken)


def repair(lab: Lab, node: str, fault: str | None = None, index: int | None = None) -> None:
    """Take back one fault, or all."""
    set_hardware(lab.machine(node), faults.clear(_hardware(lab, node), fault, index))


def _hardware(lab: Lab, node: str) -> Hardware:
    hardware = hardware_of(lab.machine(node))
    if hardware is None:
        raise _no_such_part(lab, node, "has no simulated hardware")
    return hardware


def _no_such_part(lab: Lab, node: str, what: str) -> Refused:
    return refuse(
        NO_SUCH_GPU,
        Where(path=f"{lab.name}/{node}"),
        f"node {node}: {what}",
        f"`clusterwright status {lab.name}` lists the nodes and their GPUs",
    )
