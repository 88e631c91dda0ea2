"""The fabric proven with NCCL, and the nodes that spoil it kept out of their partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from clusterwright.accept import fabric_gates, jobs, links, nccl
from clusterwright.accept.home import Token
from clusterwright.accept.result import GateResult
from clusterwright.accept.session import Session
from clusterwright.handoff import Handoff

SQUADS_AT_ONCE = 4
REASON = "clusterwright: accept "
"""Not the health check's own: what only a fabric test shows, a node's own gates must not undo."""


def prove(
    handoff: Handoff, groups: Iterable[jobs.Group], connect: Callable[[], Session], token: Token
) -> list[GateResult]:
    """Every squad of idle GPU nodes, side by side."""
    simulated = any(site.get("simulated") for site in handoff.site.values())

    def one(squad: nccl.Squad) -> list[GateResult]:
        with connect() as session:
            return _prove(handoff, squad, session, token, simulated)

    chosen = list(groups)
    seen = "its GPUs are cut into instances (MIG), which reach no other"
    cut = [
        GateResult(fabric_gates.NODE, group.names, "skip", "all_reduce over whole GPUs", seen)
        for group in chosen
        if group.kind != "gpu"
    ]
    with ThreadPoolExecutor(SQUADS_AT_ONCE) as pool:
        squads = pool.map(one, nccl.squads(handoff, chosen))
        return [*cut, *(result for found in squads for result in found)]


def _prove(
    handoff: Handoff, squad: nccl.Squad, session: Session, token: Token, simulated: bool
) -> list[GateResult]:
    ran, found, whole = nccl.whole(session, handoff, squad, token)
    results = fabric_gates.within(squad, ran, found, simulated=simulated)
    path = next((each.program for each in found.values() if each.program), "")
    slow = {result.node for result in results if result.status == "fail"}
    fit = replace(squad, nodes=tuple(node for node in squad.nodes if node.name not in slow))
    if path and len(fit.nodes) > 1:

        def ask(names: Sequence[str]) -> nccl.Together:
            return nccl.together(session, handoff, fit, names, path, token)

        together = whole if whole and not slow else ask(fit.names)
        results += fabric_gates.between(fit, together, ask, simulated=simulated)
        if any(result.name == fabric_gates.FABRIC and result.status == "fail" for result in results):
            note = f" ({fabric_gates.REHEARSAL})" if simulated else ""
            results += links.gates(fit, *links.measure(session, fit, token), note=note)
    _keep_out(session, squad, results)
    return results


def _keep_out(session: Session, squad: nccl.Squad, results: Sequence[GateResult]) -> None:
    """Drain the nodes that failed; when all of them did, only those whose own cards are slow."""
    failed = {result.node: result for result in results if result.status == "fail"}
    bad = sorted(set(failed) & set(squad.names))
    if len(bad) == len(squad.nodes):
        slow = {result.node for result in results if result.name == links.GATE and result.status == "fail"}
        bad = sorted(slow & set(squad.names))
    for name in bad if len(bad) < len(squad.nodes) else ():
        reason = f"{REASON}{failed[name].name}: expected {failed[name].expected}, seen {failed[name].seen}"
        session.run("scontrol", "update", f"nodename={name}", "state=drain", f"reason={reason}")
