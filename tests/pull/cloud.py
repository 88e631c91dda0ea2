"""A cloud whose machines are files: they show keys on consoles, and sign what they are told to say."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.accept.report import dumps
from clusterwright.accept.result import Acceptance, GateResult
from clusterwright.bundle.pointer import Pointer
from clusterwright.event import Event
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.pull.crowds import Groups
from clusterwright.operate.pull.folder import Folder
from clusterwright.operate.pull.introduced import Introduction
from clusterwright.operate.pull.settle import Far, Settled, settle
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.pull.store import Store
from clusterwright.render import render

from .world import DESCRIPTION, handoff_of, key_pair

WELL = GateResult("membership", "", "pass", "2 nodes", "2 nodes")
SLOW = GateResult("nccl-fabric", "gpu-002", "fail", "300 GB/s", "194 GB/s", "Look at its cards")
NODES = ("controller", "gpu-001", "gpu-002")
MACHINES = {name: f"i-{number:017x}" for number, name in enumerate(NODES)}


@dataclass
class Cloud:
    """Machines that show their keys on consoles, and say what they are told to once there is a pointer."""

    folder: Path
    asked: list[str] = field(default_factory=list)
    said: list[Event] = field(default_factory=list)
    silent: tuple[str, ...] = ()
    known: Mapping[str, str] = field(default_factory=dict)
    groups: Groups | None = None
    members: Mapping[str, str] = field(default_factory=dict)
    roll: int = 0
    addresses: Mapping[str, str] = field(default_factory=dict)
    """That members will have."""

    def __post_init__(self) -> None:
        (self.folder / "keys").mkdir()
        for node in NODES:
            key_pair(self.folder / "keys" / node)
        self.home = ClusterHome.of("far")
        self.handoff = handoff_of(DESCRIPTION)
        self.store = Store(Folder(self.folder / "store"), "https://store.example.com")

    def ask(self, machines: Mapping[str, str]) -> Mapping[str, str]:
        self.asked += machines.values()
        return {node: self.key(node) for node in machines if node not in self.silent}

    def key(self, node: str) -> str:
        return " ".join((self.folder / "keys" / f"{node}.pub").read_text().split()[:2])

    def settle(self, signer: str = "", until: float = 20) -> dict[str, str]:
        found = self.settled(signer, until)
        return {node: f"{row.status} {row.message}".strip() for node, row in found.nodes.items()}

    def settled(self, signer: str = "", until: float = 20) -> Settled:
        introduction = Introduction(self.ask, patience=0.2, pause=0.05)
        signer = signer or Signing.of(self.home).public
        far = self.far(introduction, signer, until)
        found = settle(far, None, self.handoff, self.folder, self.said.append)
        self.known, self.members = found.host_keys, found.members
        return found

    def far(self, introduction: Introduction, signer: str, until: float = 20) -> Far:
        single = {node: MACHINES[node] for node in MACHINES if not self.groups or node == "controller"}
        return Far(
            self.store,
            single,
            introduction,
            signer,
            self.known,
            self.groups,
            self.members,
            self.roll,
            until,
        )

    def serial(self) -> int:
        pointer = self.store.pointer(Signing.of(self.home).public)
        return pointer.serial if pointer else 0

    def report(self, node: str, state: str, cause: str = "", serial: int = 1) -> None:
        handoff = self.handoff.at(self.addresses)
        desired = Desired(self.home, handoff, render(handoff), self.folder)
        row = {"node": node, "serial": serial, "digest": desired.wanted[node].digest, "state": state}
        row |= {"cause": cause, "changed": 1, "seconds": 1.0, "cpu_seconds": 0.5, "at": time.time()}
        self.leave(node, node, row)

    def prove(self, state: str, *gates: GateResult, node: str = "controller") -> None:
        """What the node that runs the gates says of the bundle that is published now."""
        pointer = self.store.pointer(Signing.of(self.home).public)
        assert pointer
        body = json.loads(dumps(Acceptance("far", gates, time.time(), 1.0, simulated=True)))
        row = {"node": node, "cluster": "far", "tree": pointer.tree.sha256, "asked": pointer.asked}
        row |= {"state": state, "cause": "", "gates": body if gates else None, "at": time.time()}
        self.leave("cluster.gates", node, row)

    def leave(self, name: str, node: str, row: Mapping[str, object]) -> None:
        text, key = json.dumps(row), str(self.folder / "keys" / node)
        argv = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "clusterwright-report"]
        signature = subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout
        body = json.dumps({"signed": text, "signature": signature}).encode()
        self.store.shelf.write(f"reports/{name}", body)

    def accept_when_pointed_anew(self) -> threading.Thread:
        """Every node, once something else is published than now."""
        before = self.serial()

        def work() -> None:
            until = time.monotonic() + 60
            while self.serial() == before and time.monotonic() < until:
                time.sleep(0.02)
            for node in NODES:
                self.report(node, "accepted", serial=self.serial())
            self.prove("accepted", WELL)

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    def report_when_pointed(self, **states: str) -> threading.Thread:
        """Every node that is not named was accepted."""

        def work() -> None:
            until = time.monotonic() + 60
            while self.store.shelf.read("current.json") is None and time.monotonic() < until:
                time.sleep(0.02)
            for node in NODES:
                state, _, cause = states.get(node.replace("-", "_"), "accepted").partition(": ")
                self.report(node, state, cause)
            if not states:
                self.prove("accepted", WELL)

        thread = threading.Thread(target=work)
        thread.start()
        return thread


def answer(cloud: Cloud, before: Pointer | None) -> None:
    """As the node does once somebody asked."""
    public, until = Signing.of(cloud.home).public, time.monotonic() + 30
    while cloud.store.pointer(public) == before and time.monotonic() < until:
        time.sleep(0.05)
    cloud.prove("working nccl-node")
    while "working nccl-node" not in [event.text for event in cloud.said] and time.monotonic() < until:
        time.sleep(0.05)
    cloud.prove("accepted", WELL)
