"""`diagnose` of a cluster on a cloud: from its store, its stack and its consoles, whoever lies dead.

What only a node can tell is asked of those that a door leads to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from clusterwright.accept.likely import Evidence, likely, of_gates
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused
from clusterwright.operate.asked import EVERYWHERE, ON_CONTROLLERS, ON_GPU_NODES
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.diagnose import NODES_AT_ONCE, Diagnosis, evidence_in, of_operator, pack
from clusterwright.operate.pull.clouds import console_texts
from clusterwright.operate.pull.proof import Proof
from clusterwright.operate.pull.reports import NodeReport
from clusterwright.operate.remote import KNOCK_SECONDS, run_on
from clusterwright.operate.stack.failures import ACCEPTANCE
from clusterwright.operate.stack.heard import heard
from clusterwright.operate.stack.known import Known
from clusterwright.operate.stack.status import StackStatus, status
from clusterwright.operate.stack.way import Way

JOURNAL = "journalctl --no-pager --boot --lines=4000"


@dataclass(frozen=True)
class Collecting:
    """What there is to see of one cluster, before any node is asked."""

    found: Known
    now: StackStatus
    reports: Mapping[str, NodeReport]
    proof: Proof | None
    console: Callable[[str], str]

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Nodes that say anything but that they are accepted; and controllers, which know of the others."""
        said = {node.name: node.said for node in self.now.nodes}
        controls = {node.name for node in self.found.handoff.with_role("controller")}
        return tuple(name for name in said if said[name] != "accepted" or name in controls)

    def of_node(self, name: str) -> Iterator[tuple[str, str]]:
        """File → text: what it reported, what its console shows, and what it answers."""
        row = next(node for node in self.now.nodes if node.name == name)
        yield "said.txt", row.said or "nothing"
        if name in self.reports:
            yield "report.json", json.dumps(asdict(self.reports[name]), indent=1)
        if name in self.doubtful and row.instance:
            yield "console.log", self._console(name)
            yield from self._answers(name)

    def _console(self, name: str) -> str:
        try:
            return self.console(name)
        except Refused as refusal:
            return str(refusal)

    def _answers(self, name: str) -> Iterator[tuple[str, str]]:
        way = Way(self.found, name)
        knocked = run_on(way, "true", timeout=KNOCK_SECONDS)
        if knocked.code:
            yield "door.txt", knocked.error or knocked.output
            return
        node = self.found.handoff.by_name[name]
        vendor = self.found.handoff.hardware[node.machine].gpu_vendor or ""
        asked = {**EVERYWHERE, **ON_GPU_NODES.get(vendor, {}), "journal.log": JOURNAL}
        for file, command in {**asked, **(ON_CONTROLLERS if "controller" in node.roles else {})}.items():
            answer = run_on(way, command, timeout=60)
            yield file, answer.output + answer.error


def diagnose(cluster: Cluster, found: Known, archive: Path, report: Report) -> Diagnosis:
    """Rank the causes, and put all that speaks for them into one archive without secrets."""
    reports, proof, unheard = heard(found)
    seen = Collecting(found, status(found, drift=False), reports, proof, console_of(found))
    names = list(found.handoff.by_name)

    def collect(name: str) -> dict[str, str]:
        texts = dict(seen.of_node(name))
        report(Event("diagnose", "ok", f"{len(texts)} files", name))
        return texts

    with ThreadPoolExecutor(NODES_AT_ONCE) as pool:
        collected = dict(zip(names, pool.map(collect, names), strict=True))
    causes = tuple(likely([*evidence_in(collected), *_of_cluster(seen)]))
    files = {
        f"nodes/{name}/{file}": text for name, texts in collected.items() for file, text in texts.items()
    }
    files |= dict(_of_stack(found, proof, unheard)) | dict(of_operator(cluster.home, found.handoff))
    pack(archive, files, causes)
    silent = tuple(node.name for node in seen.now.nodes if not node.said or not node.instance)
    return Diagnosis(archive, causes, silent)


def console_of(found: Known) -> Callable[[str], str]:
    """By node. Google's machines are known to their acceptance by number."""
    rows = found.kept.of_type(ACCEPTANCE)
    outputs = rows[0].outputs if rows else {}
    machines = {**found.machines, **(outputs.get("machines") or {})}
    site = next(iter(found.handoff.site.values()))
    texts = console_texts(str(site["provider"]), str(outputs.get("region") or site.get("region") or ""))
    return lambda node: texts(str(machines[node]))


def _of_cluster(seen: Collecting) -> Iterator[Evidence]:
    if seen.proof and seen.proof.acceptance:
        yield from of_gates(seen.proof.acceptance.gates)


def _of_stack(found: Known, proof: Proof | None, unheard: tuple[Finding, ...]) -> Iterator[tuple[str, str]]:
    """What the engine has made, without what is in it: inputs and outputs may hold secrets."""
    rows = [
        {"type": one.type, "name": one.name, "id": one.id, "protected": one.protected}
        for one in found.kept.resources
    ]
    yield "stack/resources.json", json.dumps(rows, indent=1)
    yield "stack/unfinished.json", json.dumps([asdict(one) for one in found.kept.pending], indent=1)
    if proof:
        yield "gates.json", json.dumps(asdict(proof), indent=1, default=str)
    if unheard:
        yield "store.txt", "\n".join(map(str, unheard))
