"""The gates of a cluster run by one of its own nodes, over nodes that proved themselves.

    python3 -m clusterwright.accept.here FOLDER

FOLDER has `asked.json`: the hand-off's file, the name of this node and what each node said of itself. Says an
event a line, as JSON, and leaves `accept.json` and `accept.html` there.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

from clusterwright import handoff as documents
from clusterwright.accept import cluster, slurm_text
from clusterwright.accept.by_jobs import ByJobs
from clusterwright.accept.home import JOB_PREFIX
from clusterwright.accept.prove import concluded
from clusterwright.accept.report import write
from clusterwright.accept.result import Acceptance, GateResult
from clusterwright.accept.session import Here, NoAnswer, Session
from clusterwright.event import Event, Report
from clusterwright.handoff import Handoff
from clusterwright.spec.nodeset import fold

REGISTER_SECONDS = 60.0
"""How long slurmctld, when it was just started, is given to hear from every node."""
LEFTOVER_SECONDS = 30.0
_PAUSE_SECONDS = 1.0


def accept(handoff: Handoff, node: str, said: Mapping[str, str], report: Report) -> Acceptance:
    """`said`: by node, what its signed report says. Never raises for a broken cluster."""
    started, clock = time.time(), time.monotonic()
    gates = [
        GateResult("node-report", name, "pass", "its own gates passed, and it says so", words)
        for name, words in sorted(said.items())
    ]
    connect = partial(Session, Here(node))
    entry = handoff.by_name[node]
    try:
        report(Event("accept", "progress", "slurmctld hears from its nodes"))
        with connect() as session:
            end_leftovers(session)
            wait_until_heard(session, {one.name for one in handoff.with_role("compute")})
        gates += cluster.prove(handoff, entry, connect, ByJobs(handoff, connect), report)
    except NoAnswer as error:
        remedy = "Look at the journal of clusterwright-prove.service there"
        gates.append(GateResult("scheduler", node, "fail", "a node to ask Slurm from", str(error), remedy))
    return concluded(handoff, folded(gates), started, time.monotonic() - clock)


def folded(gates: Iterable[GateResult]) -> list[GateResult]:
    """What passed alike on many nodes is said once: the report of a healthy cluster stays small."""
    kept: list[GateResult] = []
    alike: dict[tuple[str, str, str], list[GateResult]] = {}
    for gate in gates:
        if gate.status == "pass" and gate.node and not gate.figures:
            alike.setdefault((gate.name, gate.expected, gate.seen), []).append(gate)
        else:
            kept.append(gate)
    passed = [
        rows[0] if len(rows) == 1 else replace(rows[0], node=fold(row.node for row in rows), seconds=0.0)
        for rows in alike.values()
    ]
    return [*passed, *kept]


def end_leftovers(session: Session) -> None:
    """Jobs of a run that was killed keep their nodes until their time is up; runs follow each other."""
    deadline = time.monotonic() + LEFTOVER_SECONDS
    while time.monotonic() < deadline:
        rows = session.run("squeue", "--noheader", "--format=%A %j").output.splitlines()
        left = [row.split()[0] for row in rows if row.partition(" ")[2].startswith(JOB_PREFIX)]
        if not left:
            return
        session.run("scancel", *left)
        time.sleep(_PAUSE_SECONDS)


def wait_until_heard(session: Session, planned: Iterable[str]) -> None:
    """After this every node that will take jobs by itself does; what is wrong with others a gate says."""
    deadline = time.monotonic() + REGISTER_SECONDS
    wanted = set(planned)
    while time.monotonic() < deadline:
        seen = slurm_text.nodes(session.run("scontrol", "show", "nodes", "--oneliner").output)
        if all(name in seen and (seen[name].healthy or seen[name].reason) for name in wanted):
            return
        time.sleep(_PAUSE_SECONDS)


def main() -> None:
    folder = Path(sys.argv[1])
    asked = json.loads((folder / "asked.json").read_text())
    handoff = documents.loads(Path(asked["handoff"]).read_text(encoding="utf-8"))

    def say(event: Event) -> None:
        sys.stdout.write(json.dumps(asdict(event)) + "\n")
        sys.stdout.flush()

    write(accept(handoff, asked["node"], asked["said"], say), folder)


if __name__ == "__main__":
    main()
