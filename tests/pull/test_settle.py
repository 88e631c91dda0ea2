"""A cluster that nobody logs in to: machines introduce themselves, and reports alone say what came of it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from clusterwright.bundle.pointer import Pointer
from clusterwright.converge.target import Target
from clusterwright.finding import Refused
from clusterwright.operate.desired import Desired
from clusterwright.operate.pull import converge, proof
from clusterwright.operate.pull.crowds import Groups
from clusterwright.operate.pull.introduced import Introduction
from clusterwright.operate.pull.settle import Far, gone, proof_of, reports_of
from clusterwright.operate.pull.signing import Signing
from clusterwright.providers.member import Member
from clusterwright.render import render

from .cloud import MACHINES, NODES, SLOW, WELL, Cloud, answer
from .world import DESCRIPTION, handoff_of


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


def test_it_is_heard_what_nodes_say_as_soon_as_it_is_published(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = converge.publish_to

    def answered(*arguments: Any) -> Pointer:
        pointer = publish(*arguments)
        for node in NODES:
            cloud.report(node, "accepted")
        cloud.prove("accepted", WELL)
        return pointer

    monkeypatch.setattr(converge, "publish_to", answered)
    assert cloud.settle() == dict.fromkeys(NODES, "changed")


def test_gates_of_the_cluster_are_waited_for_and_run_again_by_the_next(cloud: Cloud) -> None:
    nodes = cloud.report_when_pointed()
    cloud.settle()
    nodes.join()
    cloud.prove("failed", SLOW)
    far = Far(cloud.store, MACHINES, Introduction(cloud.ask), "", cloud.known)
    proof = proof_of(far, cloud.handoff)
    assert proof and proof.acceptance and [gate.node for gate in proof.acceptance.failed] == ["gpu-002"]
    before = cloud.store.pointer(Signing.of(cloud.home).public)
    again = threading.Thread(target=lambda: answer(cloud, before))
    again.start()
    found = cloud.settled()
    again.join()
    assert found.acceptance and found.acceptance.accepted
    assert "working nccl-node" in [event.text for event in cloud.said]
    after = cloud.store.pointer(Signing.of(cloud.home).public)
    assert before and after
    assert (after.tree, after.asked, after.serial) == (before.tree, before.asked + 1, before.serial + 1)
    assert json.loads((cloud.home.reports / "accept.json").read_text())["accepted"]


def test_node_that_runs_the_gates_and_says_nothing_is_no_acceptance(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    faster = SimpleNamespace(time=time.time, sleep=time.sleep, monotonic=lambda: 40 * time.monotonic())
    monkeypatch.setattr(proof, "time", faster)  # the nodes themselves are given their time
    nodes = cloud.report_when_pointed(nobody="accepted")
    found = cloud.settled()
    nodes.join()
    assert found.acceptance
    [gate] = found.acceptance.failed
    assert (gate.name, gate.node) == ("cluster-report", "controller")
    assert "it said nothing of the cluster" in gate.seen


def test_gates_that_another_node_signed_are_nobodys(cloud: Cloud) -> None:
    nodes = cloud.report_when_pointed()
    cloud.settle()
    nodes.join()
    cloud.prove("failed", SLOW, node="gpu-001")
    far = Far(cloud.store, MACHINES, Introduction(cloud.ask), "", cloud.known)
    assert proof_of(far, cloud.handoff) is None


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


def test_failure_with_the_bundle_before_is_not_one_with_this(cloud: Cloud) -> None:
    nodes = cloud.report_when_pointed()
    cloud.settle()
    nodes.join()
    cloud.handoff = handoff_of(DESCRIPTION + "domain: other.internal\n")

    def work() -> None:
        until = time.monotonic() + 60
        while cloud.serial() < 2 and time.monotonic() < until:
            time.sleep(0.02)
        cloud.report("gpu-001", "failed", "the fan stands still", serial=1)
        while "failed the fan stands still (serial 1)" not in [event.text for event in cloud.said]:
            assert time.monotonic() < until
            time.sleep(0.02)
        for node in NODES:
            cloud.report(node, "accepted", serial=2)
        cloud.prove("accepted", WELL)

    late = threading.Thread(target=work)
    late.start()
    assert cloud.settle() == dict.fromkeys(NODES, "changed")
    late.join()


def soon(so: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not so():
        assert time.monotonic() < until
        time.sleep(0.02)


@dataclass
class Round:
    """Of nodes that SSH reaches, where waking them is written down."""

    cloud: Cloud
    woken: list[str]
    revived: threading.Event
    pulling: converge.Pulling
    thread: threading.Thread

    def wait_for_words(self, count: int) -> None:
        soon(lambda: len([event for event in self.cloud.said if event.step == "converge"]) == count)

    def end(self) -> dict[str, str]:
        for node in NODES:
            self.cloud.report(node, "accepted")
        self.thread.join(30)
        return {name: row.status for name, row in self.pulling.results.items()}


@pytest.fixture
def begun(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Round:
    woken: list[str] = []
    revived = threading.Event()
    monkeypatch.setattr(converge, "WAKE_AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(converge, "verify", lambda *_: {})
    monkeypatch.setattr(converge, "run_on", lambda target, *_, **__: woken.append(target.name))
    desired = Desired(cloud.home, cloud.handoff, render(cloud.handoff), cloud.folder)
    targets = {node: Target(node, "10.9.0.1", 22, "root", cloud.folder, cloud.folder) for node in NODES}
    keys = {node: cloud.key(node) for node in NODES}
    pulling = converge.Pulling(cloud.store, desired, keys, targets, cloud.said.append, revived.set)
    thread = threading.Thread(target=lambda: pulling.run(NODES, {}, {}, full=False), daemon=True)
    thread.start()
    soon(lambda: cloud.serial() == 1)
    return Round(cloud, woken, revived, pulling, thread)


def test_who_works_or_waits_for_its_turn_is_not_woken_again(cloud: Cloud, begun: Round) -> None:
    """Of many nodes most wait: a login to each of them every few seconds slowed down those that work."""
    cloud.report("gpu-001", "waiting", "waits for controller")
    cloud.report("gpu-002", "waiting", "held back: gpu-001 failed")
    begun.wait_for_words(2)
    before = len(begun.woken)
    soon(lambda: begun.woken[before:].count("controller") >= 3)
    assert {"controller", "gpu-002"} <= set(begun.woken[before:])
    assert "gpu-001" not in begun.woken[before + len(NODES) :]
    assert not begun.revived.is_set()
    cloud.report("controller", "rebooting")
    assert begun.revived.wait(30)
    assert begun.end() == dict.fromkeys(NODES, "changed")


def test_who_works_and_says_nothing_more_is_woken_now_and_then(
    cloud: Cloud, begun: Round, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its agent may have been killed, and its timer is minutes away."""
    for node in NODES:
        cloud.report(node, "working" if node == "gpu-001" else "rebooting")
    begun.wait_for_words(3)
    monkeypatch.setattr(converge, "WAKE_SILENT_SECONDS", 0.5)
    before = len(begun.woken)
    soon(lambda: begun.woken[before:].count("gpu-001") >= 2)
    often = begun.woken[before:]
    assert often.count("gpu-001") < often.count("controller") / 2
    assert begun.end() == dict.fromkeys(NODES, "changed")


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


@dataclass
class Crowd:
    """A group of two."""

    there: dict[str, str]

    def members(self, group: str) -> dict[str, Member]:
        assert group == "gpu-0123456"
        return {machine: Member(address) for machine, address in self.there.items()}

    def call(self, _: str, __: Mapping[str, str]) -> dict[str, str]:
        return {}

    def end(self, _: str, machines: Iterable[str]) -> None:
        raise AssertionError(machines)


def test_members_of_a_group_are_nodes_like_others(cloud: Cloud) -> None:
    crowd = Crowd({"i-a": "10.9.7.1", "i-b": "10.9.7.2"})
    cloud.groups = Groups({"gpu": "gpu-0123456"}, crowd, patience=0.0, pause=0.0)
    cloud.handoff = cloud.handoff.at({"gpu-001": "", "gpu-002": ""})
    cloud.addresses = {"gpu-001": "10.9.7.1", "gpu-002": "10.9.7.2"}
    nodes = cloud.report_when_pointed()
    found = cloud.settled()
    nodes.join()
    assert {node: row.status for node, row in found.nodes.items()} == dict.fromkeys(NODES, "changed")
    assert (found.members, found.addresses) == ({"gpu-001": "i-a", "gpu-002": "i-b"}, cloud.addresses)
    applied = cloud.home.handoff()
    assert applied and applied.by_name["gpu-002"].address == "10.9.7.2", "status and ssh know it"
    assert cloud.settle() == dict.fromkeys(NODES, "ok")
    assert sorted(cloud.asked) == sorted([MACHINES["controller"], "i-a", "i-b"]), "each showed its key once"

    # One is gone, and another came: it is seen, named, introduced, and a node by the same name.
    crowd.there = {"i-a": "10.9.7.1", "i-c": "10.9.7.3"}
    far = cloud.far(Introduction(cloud.ask), "")
    assert list(gone(far)) == ["gpu-002"]
    cloud.addresses = {**cloud.addresses, "gpu-002": "10.9.7.3"}
    before = cloud.serial()

    def work() -> None:
        until = time.monotonic() + 60
        while cloud.serial() == before and time.monotonic() < until:
            time.sleep(0.02)
        for node in NODES:
            cloud.report(node, "accepted", serial=before + 1)
        cloud.prove("accepted", WELL)

    thread = threading.Thread(target=work)
    thread.start()
    found = cloud.settled()
    thread.join()
    assert found.members == {"gpu-001": "i-a", "gpu-002": "i-c"}
    assert cloud.asked[-1] == "i-c"
    assert "i-a" not in cloud.asked[3:], "the others showed theirs before"
    assert {row.status for row in found.nodes.values()} == {"changed"}, "a new address is told to everybody"
