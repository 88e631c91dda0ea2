"""A roll of nodes that pull, seen from the operator: who goes on, who is held back, what stays published."""

from __future__ import annotations

import json
import random
import subprocess
import time
from dataclasses import dataclass, field, replace
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from clusterwright.bundle.turns import AT_ONCE, InTurn, Turn, order
from clusterwright.catalog.changes import Impact
from clusterwright.event import Event
from clusterwright.finding import Refused
from clusterwright.operate.course import Wishes, refuse_to_roll
from clusterwright.operate.pull.converge import Pulling
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.roll import Roll

from .cloud import NODES, Cloud
from .world import DESCRIPTION, World, handoff_of

FOUR = DESCRIPTION.replace("count: 2", "count: 4")
WITH_USER = FOUR + "users: {ada: {uid: 2001}}\n"


def roll_of(world: World) -> InTurn:
    pointer = world.store.pointer(world.signing.public)
    assert pointer
    return pointer.roll


def test_turns_stay_with_what_was_published_in_them(world: World) -> None:
    """A plain `up` goes on with a roll that was under way; what is new afterwards is not rolled unasked."""
    world.publish(FOUR)
    world.publish(WITH_USER, roll=InTurn(1))
    assert (world.serial(), roll_of(world)) == (2, InTurn(1))
    assert world.publish(WITH_USER) == []
    assert (world.serial(), roll_of(world)) == (2, InTurn(1))
    world.publish(WITH_USER, roll=AT_ONCE)
    assert (world.serial(), roll_of(world)) == (3, AT_ONCE)
    world.publish(WITH_USER, roll=InTurn(2, ("gpu-002",)))
    world.publish(FOUR)
    assert (world.serial(), roll_of(world)) == (5, AT_ONCE)


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_no_more_than_the_width_are_under_way_and_none_begins_behind_one_that_failed(width: int) -> None:
    """Nodes begin and come through in any order that their turns leave; the third behind the canary fails."""
    nodes = [f"n{number:02}" for number in range(12)]
    turns = order(dict.fromkeys(nodes, ("compute",)), dict.fromkeys(nodes, "p"), InTurn(width)).turns
    for seed in range(40):
        chance, begun, accepted, failed = random.Random(seed), set[str](), set[str](), set[str]()
        while True:
            free = [node for node in set(turns) - begun if _may_begin(turns[node], begun - failed, accepted)]
            ways = [("begin", node) for node in free]
            ways += [("end", node) for node in begun - accepted - failed]
            if not ways:
                break
            way, node = chance.choice(sorted(ways))
            (begun if way == "begin" else failed if node == "n03" else accepted).add(node)
            assert len(begun - accepted - failed) <= width
        assert begun <= {*nodes[1 : 3 + width]}
        assert accepted == begun - {"n03"} and failed == {"n03"}


def _may_begin(turn: Turn, begun: set[str], accepted: set[str]) -> bool:
    return set(turn.accepted) <= accepted and set(turn.begun) <= begun


@dataclass
class Nodes:
    """What nodes say, one line after the other, each time that somebody listens."""

    world: World
    lines: list[dict[str, str]]
    said: list[Event] = field(default_factory=list)

    def next(self, *_: object) -> None:
        for node, words in (self.lines.pop(0) if self.lines else {}).items():
            state, _, cause = words.partition(": ")
            self.say(node, state, cause)

    def say(self, node: str, state: str, cause: str = "") -> None:
        digest = self.world.desired(FOUR).wanted[node].digest
        row = {"node": node, "serial": 1, "digest": digest, "state": state, "cause": cause, "changed": 1}
        text = json.dumps(row | {"seconds": 1.0, "cpu_seconds": 0.5, "at": time.time()})
        key = str(self.world.node(node) / "etc/ssh/ssh_host_ed25519_key")
        argv = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "clusterwright-report"]
        signature = subprocess.run(argv, input=text, capture_output=True, text=True, check=True).stdout
        body = json.dumps({"signed": text, "signature": signature}).encode()
        self.world.store.shelf.write(f"reports/{node}", body)

    def rolled(self, silence: float = 0.5) -> dict[str, str]:
        desired = self.world.desired(FOUR)
        names = sorted(desired.handoff.by_name)
        keys = {name: self.world.host_key(name) for name in names}
        pulling = Pulling(self.world.store, desired, keys, {}, self.said.append, lambda: None, silence)
        impacts = dict.fromkeys(names, Impact.DRAIN)
        found = pulling.run(names, MappingProxyType({}), impacts, full=False, roll=InTurn(1))
        return {name: f"{row.status} {row.message}".strip() for name, row in found.items()}


def test_who_stands_behind_one_that_failed_is_told_its_name(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {"controller": "accepted", "gpu-001": "accepted", "gpu-002": "waiting: drains: waits for jobs 7"},
        *[{}] * 20,
        {"gpu-002": "failed: FAIL nvlink", "gpu-003": "waiting: waits for gpu-002"},
    ]
    nodes = Nodes(world, lines)
    monkeypatch.setattr(time, "sleep", nodes.next)
    clock = iter(range(1_000_000))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock) / 8)
    found = nodes.rolled()
    assert found == {
        "controller": "changed",
        "gpu-001": "changed",
        "gpu-002": "failed FAIL nvlink",
        "gpu-003": "failed gpu-002 failed before it, and nothing was changed here",
        "gpu-004": "failed gpu-002 failed before it, and nothing was changed here",
    }, "and a node that waits for jobs was not taken for silent"


def test_ways_of_rolling_that_nobody_leads_are_refused_by_name() -> None:
    def refused(pulls: bool, wishes: Wishes) -> list[str]:
        work: Any = SimpleNamespace(pulls=pulls)
        try:
            refuse_to_roll(work, wishes)
        except Refused as refusal:
            return [f"{finding.code} {finding.where.path}" for finding in refusal.findings]
        return []

    asked = Wishes(roll=Roll(batch=4, wait=60.0, failures=1), rebuild=("gpu",))
    assert refused(True, asked) == ["CW8055 --wait", "CW8055 --failures", "CW8055 --rebuild"]
    assert refused(False, asked) == []
    assert refused(True, replace(asked, roll=Roll(batch=4), rebuild=())) == []
    assert refused(True, Wishes(rebuild=("gpu",))) == []


def test_a_cloud_rolls_what_disturbs_jobs_and_nothing_else(cloud: Cloud) -> None:
    def rolled(description: str) -> InTurn:
        cloud.handoff = handoff_of(description)
        nodes = cloud.accept_when_pointed_anew()
        assert cloud.settle() == dict.fromkeys(NODES, "changed")
        nodes.join()
        pointer = cloud.store.pointer(Signing.of(cloud.home).public)
        assert pointer
        return pointer.roll

    cloud.roll = 2
    assert rolled(DESCRIPTION) == AT_ONCE, "nobody had a job before"
    with_user = DESCRIPTION + "users: {ada: {uid: 2001}}\n"
    assert rolled(with_user) == AT_ONCE, "a login more disturbs none"
    cloud.report("gpu-001", "failed", "FAIL ecc", serial=cloud.serial())
    cloud.home.handoff_file.unlink()
    assert rolled(DESCRIPTION) == InTurn(2, ("gpu-001",)), "what nodes were is not known here any more"
