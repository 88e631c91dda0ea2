"""Gates on what slurmctld says of the nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from clusterwright.accept.result import GateResult, judged
from clusterwright.accept.slurm_text import SlurmNode
from clusterwright.handoff import Node
from clusterwright.spec.nodeset import fold

_UP = re.compile(r"^Slurmctld\(\S+\) at (\S+) is UP$", re.MULTILINE)


def membership(planned: Sequence[Node], seen: Mapping[str, SlurmNode]) -> GateResult:
    """Slurm knows exactly the planned compute nodes."""
    names = {node.name for node in planned}
    missing, unknown = sorted(names - set(seen)), sorted(set(seen) - names)
    differences = (("missing", missing), ("unknown", unknown))
    faults = [f"{word}: {fold(found)}" for word, found in differences if found]
    return judged(
        "membership",
        "",
        not faults,
        expected=f"{len(planned)} nodes: {fold(node.name for node in planned)}",
        seen="; ".join(faults) or f"{len(seen)} nodes",
        remedy="Run `clusterwright up`: slurm.conf and the plan differ",
    )


def controllers(planned: Sequence[Node], pinged: str) -> list[GateResult]:
    """Each slurmctld answers: one that does not would not take over."""
    up = set(_UP.findall(pinged))
    return [
        judged(
            "controllers",
            node.name,
            node.name in up,
            expected="slurmctld answers `scontrol ping`",
            seen="it is up" if node.name in up else "it is down",
            remedy="Look at `systemctl status slurmctld` there: until it runs, no other controller is left",
        )
        for node in planned
    ]


def state(node: Node, seen: SlurmNode | None) -> GateResult:
    """The node takes jobs, and nobody gave a reason why it should not."""
    if seen is None:
        text = "unknown to Slurm"
    else:
        text = seen.state.lower() + (f", Reason: {seen.reason}" if seen.reason else "")
    return judged(
        "slurm-state",
        node.name,
        seen is not None and seen.healthy,
        expected="idle, mixed or allocated, and no Reason",
        seen=text,
        remedy="Remedy the reason, then `clusterwright node resume`; `clusterwright diagnose` says more",
    )
