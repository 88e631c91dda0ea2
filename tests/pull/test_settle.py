"""A cluster that nobody logs in to: machines introduce themselves, and reports alone say what came of it."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clusterwright.event import Event
from clusterwright.finding import Refused
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.pull import publish
from clusterwright.operate.pull.folder import Folder
from clusterwright.operate.pull.introduced import Introduction
from clusterwright.operate.pull.settle import Far, reports_of, settle
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.pull.store import Store
from clusterwright.render import render

from .world import DESCRIPTION, handoff_of, key_pair

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
        introduction = Introduction(self.ask, patience=0.2, pause=0.05)
        signer = signer or Signing.of(self.home).public
        far = Far(self.store, MACHINES, introduction, signer, self.known, silence=until)
        found = settle(far, None, self.handoff, self.folder, self.said.append)
        self.known = found.host_keys
        return {node: f"{row.status} {row.message}".strip() for node, row in found.nodes.items()}

    def report(self, node: str, state: str, cause: str = "") -> None:
        desired = Desired(self.home, self.handoff, render(self.handoff), self.folder)
        row = {"node": node, "serial": 1, "digest": desired.wanted[node].digest, "state": state}
        row |= {"cause": cause, "changed": 1, "seconds": 1.0, "cpu_seconds": 0.5, "at": time.time()}
        text, key = json.dumps(row), str(self.folder / "keys" / node)
        argv = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "clusterwright-report"]
        signature = subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout
        body = json.dumps({"signed": text, "signature": signature}).encode()
        self.store.shelf.write(f"reports/{node}", body)

    def report_when_pointed(self, **states: str) -> threading.Thread:
        """Every node that is not named was accepted."""

        def work() -> None:
            until = time.monotonic() + 60
            while self.store.shelf.read("current.json") is None and time.monotonic() < until:
                time.sleep(0.02)
            for node in NODES:
                state, _, cause = states.get(node.replace("-", "_"), "accepted").partition(": ")
                self.report(node, state, cause)

        thread = threading.Thread(target=work)
        thread.start()
        return thread


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    wheel = tmp_path / "small-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    monkeypatch.setattr(publish, "wheels_of", lambda _: {"x86_64": {wheel.name: wheel}})
    yield Cloud(tmp_path)


def test_it_is_settled_when_every_node_said_so(cloud: Cloud) -> None:
    nodes = cloud.report_when_pointed()
    assert cloud.settle() == dict.fromkeys(NODES, "changed")
    nodes.join()
    applied = cloud.home.handoff()
    assert applied and applied.dumps() == cloud.handoff.dumps()
    assert "showed its host key" in [event.text for event in cloud.said]
    assert sorted(cloud.asked) == sorted(MACHINES.values())
    assert cloud.settle() == dict.fromkeys(NODES, "ok"), "nothing to do, and nobody is waited for"
    assert sorted(cloud.asked) == sorted(MACHINES.values()), "a machine introduces itself once"
    far = Far(cloud.store, MACHINES, Introduction(cloud.ask), "", cloud.known)
    assert {node: row.state for node, row in reports_of(far).items()} == dict.fromkeys(NODES, "accepted")


def test_nodes_that_nobody_remembers_give_up_their_jobs_first(cloud: Cloud) -> None:
    nodes = cloud.report_when_pointed()
    cloud.settle()
    nodes.join()
    cloud.home.handoff_file.unlink()
    cloud.handoff = handoff_of(DESCRIPTION + "domain: other.internal\n")
    assert {words.partition(" ")[0] for words in cloud.settle(until=1).values()} == {"unreachable"}
    pointer = cloud.store.pointer(Signing.of(cloud.home).public)
    row = cloud.store.node("gpu-001", pointer)
    assert row and set(row["since"].values()) == {"drain"}


def test_node_that_failed_is_named_with_its_cause(cloud: Cloud) -> None:
    nodes = cloud.report_when_pointed(
        gpu_001="failed: FAIL driver: 535.1 is loaded", gpu_002="waiting: its turn"
    )
    found = cloud.settle()
    nodes.join()
    assert found["gpu-001"] == "failed FAIL driver: 535.1 is loaded"
    assert "gpu-001 failed before it" in found["gpu-002"], "its canary"
    assert cloud.home.handoff() is None, "what is not there is not what was applied"


def test_machines_that_show_no_key_are_all_named(cloud: Cloud) -> None:
    cloud.silent = ("gpu-001", "gpu-002")
    with pytest.raises(Refused) as refused:
        cloud.settle()
    assert [(finding.code, finding.where.path) for finding in refused.value.findings] == [
        ("CW8056", "gpu-001"),
        ("CW8056", "gpu-002"),
    ]
    assert cloud.store.shelf.read("current.json") is None
    cloud.silent = ()
    nodes = cloud.report_when_pointed()
    assert cloud.settle() == dict.fromkeys(NODES, "changed"), "it goes on"
    nodes.join()


def test_key_that_machines_do_not_trust_is_refused_before_anything_is_published(cloud: Cloud) -> None:
    with pytest.raises(Refused) as refused:
        cloud.settle("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGfuBrGv6a0vlhHMVy")
    assert [finding.code for finding in refused.value.findings] == ["CW8057"]
    assert cloud.asked == []
    assert cloud.store.shelf.read("current.json") is None
