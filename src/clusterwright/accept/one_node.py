"""A node by itself: what it can be asked without any other."""

from __future__ import annotations

import time
from collections.abc import Sequence

from clusterwright.accept import backup, dcgm, node_gates
from clusterwright.accept.result import GateResult
from clusterwright.accept.session import NoAnswer, Session
from clusterwright.converge.target import Target
from clusterwright.handoff import Handoff, Node

ANSWERS = "an answer over SSH"
SILENT = "Look at the node's console with `clusterwright logs`, or `clusterwright node replace` it"


def answered(node: Node, started: float) -> GateResult:
    spent = round(time.monotonic() - started, 3)
    return GateResult("answers", node.name, "pass", ANSWERS, f"in {spent:.2f} s", "", spent)


def silent(node: Node, complaint: str) -> GateResult:
    return GateResult("answers", node.name, "fail", ANSWERS, complaint, SILENT)


def look(session: Session, handoff: Handoff, node: Node, units: Sequence[str]) -> list[GateResult]:
    """Its own gates, its daemons, and DCGM's word on its GPUs."""
    results = [*node_gates.own_gates(session, node), *node_gates.daemons(session, node, units)]
    if "compute" in node.roles and "dcgm" in handoff.software["stacks"].get(node.pool, {}):
        results.append(dcgm.diagnose(session, node))
    if backup.takes_backups(handoff, node):
        results.append(backup.recent(session, node))
    return results


def prove_alone(handoff: Handoff, node: Node, target: Target, units: Sequence[str]) -> list[GateResult]:
    """Every gate that needs no job and no other node; also of a node that Slurm gives no jobs."""
    started = time.monotonic()
    try:
        with Session(target) as session:
            skew = node_gates.time_skew(session, node)
            return [answered(node, started), skew, *look(session, handoff, node, units)]
    except NoAnswer as error:
        return [silent(node, str(error))]
