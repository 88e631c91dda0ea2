"""Labs played by a JSON file each in $PLAYED_LABS: the plugin and the engine are real, the nodes are not."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path

from clusterwright.event import Event, Report
from clusterwright.finding import Where, refuse
from clusterwright.handoff import from_plan, loads
from clusterwright.operate.pull.crowds import nodes_of
from clusterwright.plan import plan
from clusterwright.plugin.acceptance import AcceptanceProvider
from clusterwright.plugin.engine import Engine
from clusterwright.plugin.far import ACCEPTED, Acceptance, FarCluster
from clusterwright.plugin.kinds import Kinds
from clusterwright.plugin.labs import Described, Lab
from clusterwright.plugin.resource import LabProvider
from clusterwright.plugin.schema import ACCEPTANCE, LAB
from clusterwright.plugin.server import serve
from clusterwright.spec.load import load


class PlayedLabs:
    """`FAIL`, `REFUSE` or `SLOW` beside the labs make an `up` fail half-way, be refused, or take long."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def describe(self, file: Path) -> Described:
        loaded = load(file)
        digest = (self._home / "DIGEST").read_text() if (self._home / "DIGEST").exists() else "1"
        return Described(loaded.spec.cluster, file.read_text(), hashlib.sha256(digest.encode()).hexdigest())

    def changes(self, file: Path) -> list[str]:
        wanted = set(self._made(file).nodes)
        found = self.find(load(file).spec.cluster)
        return [f"{node}: add" for node in sorted(wanted - set(found.nodes if found else ()))]

    def up(self, file: Path, report: Report) -> Lab:
        lab = self._made(file)
        record = self._home / f"{load(file).spec.cluster}.json"
        if (self._home / "REFUSE").exists():
            raise refuse("CW7001", Where(path="host"), "the host has no nodes to play", "Give it some")
        fails, slow = self._home / "FAIL", self._home / "SLOW"
        if fails.exists() or slow.exists():  # before its first word, at which it may be told to stop
            record.write_text(json.dumps(asdict(Lab("", "", lab.nodes))))
        for node in lab.nodes:
            report(Event("nodes", "ok", node=node))
        if fails.exists():
            raise RuntimeError("the last node did not boot")
        while slow.exists():
            report(Event("nodes", "progress", "waiting"))
            time.sleep(0.05)
        record.write_text(json.dumps(asdict(lab)))
        return lab

    def find(self, name: str) -> Lab | None:
        record = self._home / f"{name}.json"
        return Lab(**json.loads(record.read_text())) if record.exists() else None

    def destroy(self, name: str, report: Report) -> None:
        report(Event("destroy", "ok"))
        (self._home / f"{name}.json").unlink(missing_ok=True)

    def _made(self, file: Path) -> Lab:
        handoff = from_plan(plan(load(file).spec))
        login = handoff.with_role("login")[0].address
        return Lab(handoff.dumps(), login, {node.name: "running" for node in handoff.nodes})


class PlayedClusters:
    """Clusters whose nodes and gates said what stands in `NODES` and `GATES` beside the labs.

    Without these all were accepted."""

    def __init__(self, home: Path) -> None:
        self._said = home / "NODES"

    def digest(self, file: Path) -> str:
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def accept(self, cluster: FarCluster, report: Report) -> Acceptance:
        (self._said.parent / "BEFORE").write_text(cluster.before)
        (self._said.parent / "ROLL").write_text(str(cluster.roll))
        for node in sorted(cluster.machines):
            report(Event("converge", "progress", "working", node))
        return self.look(replace(cluster, members=_members(cluster)))

    def look(self, cluster: FarCluster) -> Acceptance:
        said: dict[str, str] = json.loads(self._said.read_text()) if self._said.exists() else {}
        machines = {**cluster.machines, **cluster.members}
        states = {node: said.get(node, ACCEPTED) for node in machines}
        keys = {node: f"key of {machine}" for node, machine in machines.items()}
        gates = self._said.with_name("GATES")
        return Acceptance(
            states,
            {**keys, **cluster.host_keys},
            gates.read_text() if gates.exists() else ACCEPTED,
            cluster.members,
            _addresses(cluster),
        )


def _members(cluster: FarCluster) -> dict[str, str]:
    """Who was named before stays so."""
    if not cluster.groups:
        return {}
    handoff = loads(cluster.handoff)
    nodes = (node.name for key in cluster.groups for node in nodes_of(key, handoff))
    return {node: cluster.members.get(node, f"i-{node}") for node in nodes}


def _addresses(cluster: FarCluster) -> dict[str, str]:
    """Of members: on Google Cloud the planned ones, else the cloud's to give."""
    if cluster.provider == "gcp" and cluster.members:
        planned = {node.name: node.address for node in loads(cluster.handoff).nodes}
        return {node: planned[node] for node in cluster.members}
    return {node: f"10.40.9.{place}" for place, node in enumerate(cluster.members, 4)}


def main(address: str) -> None:
    engine = Engine(address)
    home = Path(os.environ["PLAYED_LABS"])
    labs, acceptances = (
        LabProvider(PlayedLabs(home), engine),
        AcceptanceProvider(PlayedClusters(home), engine),
    )
    serve(Kinds({LAB: labs, ACCEPTANCE: acceptances}), engine)
