"""How work on a cluster ended: what was done, what broke and where, and how to go on."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from clusterwright.cli.terminal.findings import show
from clusterwright.cli.terminal.style import paint

if TYPE_CHECKING:
    from clusterwright.accept.result import Acceptance
    from clusterwright.converge.result import NodeResult
    from clusterwright.handoff import Handoff
    from clusterwright.operate.outcome import Outcome
    from clusterwright.operate.own.bootstrap import Bootstrapped
    from clusterwright.operate.provision.result import Ended, Provisioned


def show_outcome(outcome: Outcome, *, as_json: bool, welcome: bool = False) -> None:
    """`welcome`: say how to log in."""
    if as_json:
        print(json.dumps({"outcome": _as_json(outcome)}))
        return
    show((*outcome.findings, *outcome.observed, *outcome.failed), as_json=False)
    for line in _broken(outcome):
        print(line, file=sys.stderr)
    print(_headline(outcome))
    if outcome.ok and welcome:
        for name, command in _way_in(outcome.handoff):
            print(f"  {name:<8} {paint(command, 'bold', sys.stdout)}")


def batches_as_json(ended: Bootstrapped | Provisioned) -> str:
    """What became of machines that were taken batch after batch."""
    nodes: Mapping[str, NodeResult | Ended] = ended.nodes
    body = {
        "cluster": ended.cluster,
        "ok": ended.ok,
        "nodes": {name: asdict(one) for name, one in sorted(nodes.items())},
        "untouched": list(ended.untouched),
        "findings": [finding.as_json() for finding in ended.findings],
    }
    return json.dumps({"outcome": body})


def show_acceptance(acceptance: Acceptance, report_page: str, *, as_json: bool) -> None:
    from clusterwright.accept.report import dumps, summary

    if as_json:
        print(json.dumps({"acceptance": json.loads(dumps(acceptance))}))
        return
    print(summary(acceptance))
    print(f"the whole report: {report_page}")


def _as_json(outcome: Outcome) -> dict[str, object]:
    acceptance = outcome.acceptance
    return {
        "cluster": outcome.handoff.name,
        "ok": outcome.ok,
        "created": list(outcome.created),
        "removed": list(outcome.removed),
        "nodes": {name: asdict(result) for name, result in sorted(outcome.nodes.items())},
        "accepted": acceptance.accepted if acceptance else None,
        "failed_gates": [asdict(gate) for gate in acceptance.failed] if acceptance else [],
        "failed": [finding.as_json() for finding in outcome.failed],
        "findings": [finding.as_json() for finding in (*outcome.findings, *outcome.observed)],
    }


def _broken(outcome: Outcome) -> Iterator[str]:
    for name, result in sorted(outcome.broken.items()):
        words = ": ".join(word for word in (result.status, result.failed_task, result.message) if word)
        yield f"{paint(name, 'bold red', sys.stderr)}: {words}"
    for gate in outcome.acceptance.failed if outcome.acceptance else ():
        place = paint(gate.node or outcome.handoff.name, "bold red", sys.stderr)
        yield f"{place}: gate {gate.name} failed: expected {gate.expected}, saw {gate.seen}"
        yield f"  {paint('remedy:', 'green', sys.stderr)} {gate.remedy}"


def _headline(outcome: Outcome) -> str:
    done = [
        f"{len(names)} {what}"
        for names, what in (
            (outcome.created, "created"),
            (outcome.removed, "removed"),
            (set(outcome.changed) - set(outcome.created), "changed"),
            (outcome.broken, "broken"),
            (outcome.failed, "stopped" if not outcome.broken else "held back"),
        )
        if names
    ]
    verdict = "up" if outcome.ok else "not up"
    if outcome.acceptance is not None and not outcome.broken:
        verdict = "accepted" if outcome.acceptance.accepted else "not accepted"
    style = "bold green" if outcome.ok else "bold red"
    nodes = f"{len(outcome.handoff.nodes)} nodes"
    state = paint(f"{outcome.handoff.name} {verdict}", style, sys.stdout)
    return f"{state}: {', '.join([nodes, *(done or ['nothing to change'])])}"


def _way_in(handoff: Handoff) -> Iterator[tuple[str, str]]:
    """How to log in, and a job that uses what is there."""
    name = handoff.name
    yield "log in", f"clusterwright ssh {name}"
    compute = handoff.with_role("compute")
    if compute:
        first = compute[0]
        alike = [node for node in compute if node.machine == first.machine]
        gpus = f" --gres=gpu:{first.gpus}" if first.gpus else ""
        yield "try", f"clusterwright ssh {name} -- srun -N{min(len(alike), 2)}{gpus} hostname"
    yield "look", f"clusterwright status {name}"
