"""A change that goes from node to node: who is held, who is given back, and what stops it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from clusterwright.accept.result import GateResult
from clusterwright.catalog.changes import Impact
from clusterwright.change import Change
from clusterwright.converge.target import Target
from clusterwright.event import Event
from clusterwright.finding import Refused
from clusterwright.handoff import from_plan
from clusterwright.operate import queue as queues
from clusterwright.operate import roll as rolls
from clusterwright.operate.need import Move, Need, Step
from clusterwright.operate.queue import Queue
from clusterwright.operate.remote import Answer
from clusterwright.operate.roll import Roll, Rolled, Rolling, empty
from clusterwright.operate.work import Work
from clusterwright.plan import plan
from clusterwright.spec.load import loads
from clusterwright.spec.nodeset import expand

TEXT = """
cluster: rolled
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 4}
  more: {roles: compute, machine: lab-h100, count: 2}
"""


@dataclass
class Slurm:
    """slurmctld, as far as a roll asks it: a state and a reason a node, and what runs there."""

    nodes: dict[str, tuple[str, str]]
    jobs: dict[str, str] = field(default_factory=dict)
    asked: int = 0
    deaf: int = 0
    """How many questions stay without an answer."""
    on_question: Callable[[Slurm], None] = lambda _: None
    on_order: Callable[[Slurm], None] = lambda _: None

    def answer(self, _: Target, command: str, **__: object) -> Answer:
        words = shlex.split(command)
        self.asked += 1
        if self.deaf >= self.asked:
            return Answer(1, "", "Unable to contact slurm controller")
        if words[0] == "sinfo":
            self.on_question(self)
            return Answer(0, "".join(f"{n}|{s}|{r or 'none'}\n" for n, (s, r) in self.nodes.items()), "")
        if words[0] == "squeue":
            return Answer(0, "".join(f"7{n[-1]} {end} {n}\n" for n, end in self.jobs.items()), "")
        given = dict(word.split("=", 1) for word in words[2:])
        self.on_order(self)
        nodes = expand(given["nodename"])
        unfit = ("idle", "mixed", "unknown")
        if given["state"] == "resume" and any(self.nodes[node][0] in unfit for node in nodes):
            return Answer(1, "", "slurm_update error: Invalid node state specified")
        for node in nodes:
            self._update(node, given["state"], given.get("reason", ""))
        return Answer(0, "", "")

    def _update(self, node: str, state: str, reason: str) -> None:
        busy = node in self.jobs
        drained = ("draining" if busy else "drained", reason)
        self.nodes[node] = drained if state == "drain" else ("mixed" if busy else "idle", "")


@pytest.fixture
def slurm(monkeypatch: pytest.MonkeyPatch) -> Slurm:
    names = [f"gpu-00{number}" for number in range(1, 5)] + ["more-001", "more-002"]
    made = Slurm(dict.fromkeys(names, ("idle", "")))
    monkeypatch.setattr(queues, "run_on", made.answer)
    monkeypatch.setattr("time.sleep", lambda _: None)
    return made


def queue() -> Queue:
    return Queue(Target("controller", "10.0.0.1", 22, "root", Path("/k"), Path("/h")))


def silent(_: Event) -> None:
    pass


def test_a_person_s_drain_stays_as_it_is(slurm: Slurm) -> None:
    slurm.nodes["gpu-001"] = ("drained", "fan")
    assert not empty(queue(), ["gpu-001", "gpu-002"], "driver 1 to 2", 0, silent)
    assert slurm.nodes["gpu-001"] == ("drained", "fan")
    assert slurm.nodes["gpu-002"] == ("drained", "clusterwright: roll: driver 1 to 2")
    assert queue().held() == ("gpu-002",)


def test_jobs_end_by_themselves_and_it_is_told_until_when(slurm: Slurm) -> None:
    slurm.jobs = {"gpu-001": "2026-11-21T20:00:00"}

    def end(here: Slurm) -> None:
        if here.asked > 8:
            here.jobs.clear()
            here.nodes["gpu-001"] = ("drained", here.nodes["gpu-001"][1])

    slurm.on_question = end
    said: list[Event] = []
    assert not empty(queue(), ["gpu-001"], "driver 1 to 2", 60, said.append)
    assert "1 job on gpu-001 (71): until 2026-11-21T20:00:00 at most" in [event.text for event in said]


def test_jobs_that_outlast_the_wait_keep_their_node(slurm: Slurm) -> None:
    slurm.jobs = {"gpu-001": "UNLIMITED"}
    slurm.nodes["gpu-003"] = ("drained", "clusterwright: roll: driver 1 to 2")
    assert empty(queue(), ["gpu-001", "gpu-003"], "driver 1 to 2", 0, silent) == ("gpu-001",)
    assert slurm.nodes["gpu-001"] == ("mixed", "")
    assert slurm.nodes["gpu-003"][0] == "drained", "it was held before and may be half changed"


def test_an_interrupt_while_it_waits_gives_the_node_back(slurm: Slurm) -> None:
    slurm.jobs = {"gpu-001": "UNLIMITED"}

    def interrupted(_: Event) -> None:
        if slurm.nodes["gpu-001"][0] == "draining":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        empty(queue(), ["gpu-001"], "driver 1 to 2", 60, lambda e: None if e.node else interrupted(e))
    assert slurm.nodes["gpu-001"] == ("mixed", "")


def test_no_answer_is_no_empty_node(slurm: Slurm) -> None:
    slurm.nodes["gpu-001"] = ("drained", "")
    slurm.deaf = 5
    assert queue().wait_until_empty(["gpu-001"], 60, lambda _: None) == ()
    assert slurm.asked > 5


def test_a_slurm_that_stays_silent_is_not_rolled_over(slurm: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    slurm.deaf = 10**6
    monkeypatch.setattr(queues, "ANSWER_SECONDS", 0.0)
    with pytest.raises(Refused, match="CW8010"):
        empty(queue(), ["gpu-001"], "driver 1 to 2", 60, silent)


def test_a_node_that_came_back_since_it_was_looked_at_is_no_error(slurm: Slurm) -> None:
    slurm.nodes["gpu-001"] = slurm.nodes["gpu-002"] = ("down", "Not responding")
    slurm.on_order = lambda here: here.nodes.update({"gpu-001": ("idle", "")})
    assert queue().take_up(["gpu-001", "gpu-002"], 60) == ()
    assert slurm.nodes["gpu-002"] == ("idle", "")


def test_machines_that_are_not_there_are_not_waited_for(slurm: Slurm) -> None:
    slurm.nodes["more-001"] = ("unknown*", "")
    queue().wait_until_heard(1, {*slurm.nodes} - {"more-001"})
    assert slurm.asked == 1
    slurm.nodes["gpu-001"] = ("unknown*", "")
    slurm.on_question = lambda _: slurm.nodes.update({"gpu-001": ("idle", "")}) if slurm.asked == 3 else None
    queue().wait_until_heard(1, {"gpu-001"})
    assert slurm.asked == 3


def test_a_node_that_slurm_has_not_heard_yet_is_resumed_once_it_has(slurm: Slurm) -> None:
    slurm.nodes["gpu-001"] = ("unknown", "fan")
    slurm.on_question = lambda here: here.nodes.update({"gpu-001": ("drained", "fan")})
    queue().resume(["gpu-001"])
    assert slurm.nodes["gpu-001"] == ("idle", "")


def test_a_resume_that_slurm_goes_on_refusing_is_told(slurm: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queues, "HEARD_SECONDS", 0.0)
    slurm.nodes["gpu-001"] = ("unknown", "fan")
    with pytest.raises(Refused, match="CW8010"):
        queue().resume(["gpu-001"])


def rolled(
    slurm: Slurm,
    monkeypatch: pytest.MonkeyPatch,
    fails: Collection[str],
    asked: Roll,
    sick: Collection[str] = (),
) -> tuple[list[str], Rolled]:
    """Nodes that had their turn, in order; changing and proving a node is played."""
    handoff = from_plan(plan(loads(TEXT).spec))
    home = SimpleNamespace(name="rolled")
    work = cast(Work, SimpleNamespace(handoff=handoff, queue=queue(), home=home))
    change = Change((), "changed", "software.stacks.gpu.driver", Impact.REBOOT)
    need = Need((Step(change, Move("driver", "1", "2")),))
    turns: list[str] = []

    def played(_: Rolling, nodes: tuple[str, ...]) -> dict[str, GateResult]:
        assert all(slurm.nodes[node][0] == "drained" for node in nodes)
        turns.extend(nodes)
        return {}

    def proven(_: object, __: object, nodes: Collection[str], ___: object) -> Mapping[str, GateResult]:
        return {n: GateResult("nvlink", n, "fail", "18 links", "17 links") for n in nodes if n in fails}

    monkeypatch.setattr(Rolling, "_change", played)
    monkeypatch.setattr(rolls, "admit", proven)
    done = Rolling(work, dict.fromkeys(slurm.nodes, need), asked, silent, sick).run()
    return turns, done


_GPU = "gpu-001 gpu-002 gpu-003 gpu-004"
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "all come through": ({"fails": ()}, f"{_GPU} more-001 more-002"),
    "the first fails": ({"fails": ("gpu-001",), "asked": Roll(failures=9)}, "gpu-001"),
    "a later one fails": ({"fails": ("gpu-002",)}, "gpu-001 gpu-002"),
    "one may fail": ({"fails": ("gpu-002", "gpu-004"), "asked": Roll(failures=1)}, _GPU),
    "the first of the next pool fails": ({"fails": ("more-001",)}, f"{_GPU} more-001"),
    "in twos": ({"fails": ("gpu-002",), "asked": Roll(batch=2)}, "gpu-001 gpu-002 gpu-003"),
    "one that was sick fails": (
        {"fails": ("gpu-001",), "sick": ("gpu-001",)},
        "gpu-002 gpu-003 gpu-004 gpu-001 more-001 more-002",
    ),
}


@pytest.mark.parametrize(("given", "turns"), CASES.values(), ids=CASES)
def test_a_failure_stops_it_where_it_should(
    slurm: Slurm, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], turns: str
) -> None:
    had, done = rolled(slurm, monkeypatch, **{"asked": Roll(), **given})
    assert " ".join(had) == turns
    assert {finding.where.path for finding in done.failed} == set(given["fails"]) & set(had)
    untouched = set(slurm.nodes) - set(had)
    assert all(slurm.nodes[node] == ("idle", "") for node in untouched)


def test_the_finding_names_both_ways_on(slurm: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    _, done = rolled(slurm, monkeypatch, ("gpu-001",), Roll())
    [finding] = done.failed
    assert "gpu-001, the first of pool 'gpu', did not come through: gate nvlink: expected 18" in finding.what
    assert "run the same command: it goes on there" in finding.remedy
    assert "`versions: {driver: 1}`" in finding.remedy and "--roll --rebuild gpu`" in finding.remedy
