"""Several controllers: who is asked, what is refused, and who is away when."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterwright.accept.scheduler_gates import controllers
from clusterwright.change.reach import running
from clusterwright.converge.target import Target
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate import queue
from clusterwright.operate.backup import work
from clusterwright.operate.controllers import apart, refuse_to_leave_state
from clusterwright.operate.disturb import queue_of
from clusterwright.operate.remote import NO_ANSWER, Answer
from clusterwright.plan import plan
from clusterwright.spec.load import loads

TEXT = """
cluster: pair
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small, nodes: "CONTROLLERS"}
  login: {roles: [login, storage], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
scheduler: {SCHEDULER}
"""
SHARED = "state: /home/slurm"
SAVED = "backup: {folder: /home/backups}"


def made(nodes: str = "ctl[1-2]", scheduler: str = SHARED) -> Handoff:
    return from_plan(plan(loads(TEXT.replace("CONTROLLERS", nodes).replace("SCHEDULER", scheduler)).spec))


PAIR = made()
TARGETS = {name: Target(name, "10.0.0.1", 22, "root", Path("/k"), Path("/h")) for name in PAIR.by_name}


def test_slurm_is_asked_where_a_controller_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(target: Target, _command: str, **_: object) -> Answer:
        asked.append(target.name)
        return (
            Answer(NO_ANSWER, "", "no route")
            if target.name == "ctl1"
            else Answer(0, "gpu-001|idle|none\n", "")
        )

    monkeypatch.setattr(queue, "run_on", answer)
    found = queue_of(PAIR, TARGETS)
    assert found is not None
    assert found.states() == {"gpu-001": ("idle", "")}
    assert asked == ["ctl1", "ctl2"]


@pytest.mark.parametrize(
    ("before", "now", "code"),
    [
        (made("ctl1", ""), made(), ""),
        (made(), made("ctl1"), ""),
        (made("ctl1"), made("ctl1", "state: /home/other"), ""),
        (made("ctl1"), made("ctl1", SAVED), ""),
        (made("ctl1"), made("ctl1", ""), "CW8305"),
        (made(), made("ctl1", SAVED), "CW8305"),
        (made(), made(scheduler="state: /home/other"), "CW8305"),
        (made("ctl2", ""), made(), "CW8307"),
        (made(), made("ctl2"), "CW8307"),
    ],
)
def test_neither_state_nor_database_is_left_behind(before: Handoff, now: Handoff, code: str) -> None:
    found = []
    try:
        refuse_to_leave_state(before, now)
    except Refused as refused:
        found = [finding.code for finding in refused.findings]
    assert found == ([code] if code else [])


def test_controllers_are_away_one_after_the_other_and_the_first_one_last() -> None:
    assert list(apart(PAIR, ["ctl1", "gpu-002", "ctl2", "gpu-001"])) == [
        ["gpu-001", "gpu-002"],
        ["ctl2"],
        ["ctl1"],
    ]
    assert list(apart(made("ctl1", ""), ["ctl1", "gpu-001"])) == [["ctl1", "gpu-001"]]


def test_the_database_is_on_the_first_one() -> None:
    assert running(PAIR, "slurmdbd") == ("ctl1",)
    assert running(PAIR, "slurmctld") == ("ctl1", "ctl2")


def test_the_gate_names_the_one_that_would_not_take_over() -> None:
    pinged = "Slurmctld(primary) at ctl1 is UP\nSlurmctld(backup) at ctl2 is DOWN\n"
    found = {gate.node: gate.status for gate in controllers(PAIR.with_role("controller"), pinged)}
    assert found == {"ctl1": "pass", "ctl2": "fail"}


@pytest.mark.parametrize(
    ("stops", "pinged", "refused"),
    [
        (True, "UP", False),
        (False, "DOWN", False),
        (False, "UP", True),
    ],
)
def test_a_restore_waits_for_no_dead_controller_and_is_not_overtaken_by_a_live_one(
    monkeypatch: pytest.MonkeyPatch, stops: bool, pinged: str, refused: bool
) -> None:
    def answer(target: Target, command: str, **_: object) -> Answer:
        if command.startswith("systemctl stop"):
            assert target.name == "ctl2"
            return Answer(0 if stops else NO_ANSWER, "", "")
        return Answer(0, f"Slurmctld(backup) at ctl2 is {pinged}\n", "")

    monkeypatch.setattr(work, "run_on", answer)
    found = queue_of(PAIR, TARGETS)
    assert found is not None
    if refused:
        with pytest.raises(Refused, match="CW8306"):
            work.stop_others(found, lambda _: None)
    else:
        assert [one.name for one in work.stop_others(found, lambda _: None)] == (["ctl2"] if stops else [])
