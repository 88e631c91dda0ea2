"""All gates of a cluster, side by side: nodes prove themselves while jobs prove the scheduler."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from clusterwright.accept import cluster, home, node_gates, one_node
from clusterwright.accept.home import Exchange, Token
from clusterwright.accept.report import write
from clusterwright.accept.result import Acceptance, GateResult, GateStatus
from clusterwright.accept.session import NoAnswer, Session
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report, Status
from clusterwright.handoff import Handoff, Node

NODES_AT_ONCE = 32
_STATUS: Mapping[GateStatus, Status] = {"pass": "ok", "fail": "failed", "skip": "skipped"}


def accept(
    handoff: Handoff,
    targets: Iterable[Target],
    *,
    units: Mapping[str, Sequence[str]],
    report: Report,
    run_dir: Path,
    before: Iterable[GateResult] = (),
) -> Acceptance:
    """Prove the cluster. Only reads, but for jobs on idle nodes and a short-lived folder in the shared home.

    `units` are the systemd units that must be active, by node; `before` is what was found before the gates
    and counts with them. Leaves `accept.json` and `accept.html` in `run_dir`. Never raises for a broken
    cluster: a node that is gone is a failed gate.
    """
    started, clock = time.time(), time.monotonic()
    reach = {target.name: target for target in targets}
    gates: list[GateResult] = []

    def say(results: Iterable[GateResult]) -> None:
        for result in results:
            gates.append(result)
            text = f"{result.name}: {result.seen}"
            report(Event("accept", _STATUS[result.status], text, result.node or None))

    say(before)
    exchange = Exchange({node.name: Future() for node in handoff.nodes})
    with ThreadPoolExecutor(NODES_AT_ONCE) as pool, ThreadPoolExecutor(1) as front:
        scheduler = front.submit(_cluster, handoff, reach, exchange, report)
        nodes = [
            pool.submit(_node, handoff, node, reach.get(node.name), units.get(node.name, ()), exchange)
            for node in handoff.nodes
        ]
        try:
            for pending in nodes:
                say(pending.result())
        finally:
            exchange.all_read.set()
        say(scheduler.result())
    acceptance = concluded(handoff, gates, started, time.monotonic() - clock)
    write(acceptance, run_dir)
    return acceptance


def concluded(handoff: Handoff, gates: Iterable[GateResult], started: float, seconds: float) -> Acceptance:
    simulated = any(site.get("simulated") for site in handoff.site.values())
    return Acceptance(handoff.name, tuple(gates), round(started, 3), round(seconds, 3), simulated)


def _reads_home(handoff: Handoff, node: Node, written: Token) -> bool:
    """A site may have a home of its own, where nothing of this one is."""
    return handoff.have_in_common(node, handoff.by_name[written.written_on])


def _node(
    handoff: Handoff, node: Node, target: Target | None, units: Sequence[str], exchange: Exchange
) -> list[GateResult]:
    started = time.monotonic()
    if target is None:
        exchange.answers[node.name].set_result(False)
        return [one_node.silent(node, "no address is known")]
    try:
        with Session(target) as session:
            skew = node_gates.time_skew(session, node)
            exchange.answers[node.name].set_result(True)
            results = [one_node.answered(node, started), skew]
            results += one_node.look(session, handoff, node, units)
            written = exchange.token.result()
            if written.folder and _reads_home(handoff, node, written):
                results.append(home.shared_home(session, node, written))
            return results
    except NoAnswer as error:
        return [one_node.silent(node, str(error))]
    finally:
        if not exchange.answers[node.name].done():
            exchange.answers[node.name].set_result(False)


def _cluster(
    handoff: Handoff, reach: Mapping[str, Target], exchange: Exchange, report: Report
) -> list[GateResult]:
    """Everything that is asked of Slurm, from where users log in."""
    complaint = "no login node and no controller"
    try:
        for entry in handoff.entries:
            if entry.name not in reach:
                continue
            try:
                return cluster.prove(handoff, entry, partial(Session, reach[entry.name]), exchange, report)
            except NoAnswer as error:
                complaint = f"{entry.name}: {error}"
        remedy = "Bring a login node or the controller back first: nothing can be asked of Slurm"
        return [GateResult("scheduler", "", "fail", "a node to ask Slurm from", complaint, remedy)]
    finally:
        if not exchange.token.done():
            exchange.token.set_result(Token())
