"""Whose turn it is: servers, canary, everybody, and one after the other in a roll."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clusterwright.bundle.turns import InTurn

from .agents import looking, say, started
from .world import DESCRIPTION, World, key_pair


def turn(agent: ModuleType, one: Any, impact: str = "live") -> str:
    try:
        one.wait_for_others(impact)
    except agent.Later as later:
        return str(later)
    return "now"


def test_order_is_servers_then_canary_then_everybody(agent: ModuleType, world: World) -> None:
    world.publish()
    nodes = {name: looking(agent, world, name) for name in ("controller", "gpu-001", "gpu-002")}

    def turns() -> list[str]:
        return [turn(agent, one) for one in nodes.values()]

    assert turns() == ["now", "waits for controller", "waits for controller"]
    say(world, agent, "controller", "working")
    assert turns() == ["now", "waits for controller", "waits for controller"]
    say(world, agent, "controller", "accepted")
    assert turns() == ["now", "now", "waits for gpu-001"]
    say(world, agent, "gpu-001", "failed")
    assert turns() == ["now", "now", "held back: gpu-001 failed: its fan"]
    say(world, agent, "gpu-001", "accepted", digest="of another bundle")
    assert turns()[2] == "waits for gpu-001"
    say(world, agent, "gpu-001", "accepted")
    assert turns() == ["now", "now", "now"]


POOL = tuple(f"gpu-00{number}" for number in range(1, 6))


@pytest.fixture
def pool(agent: ModuleType, world: World) -> World:
    """Five GPU nodes; controller and canary are through."""
    world.description = DESCRIPTION.replace("count: 2", "count: 5")
    world.publish(roll=InTurn())
    say(world, agent, "controller", "accepted")
    say(world, agent, "gpu-001", "accepted")
    return world


def after_the_canary(agent: ModuleType, world: World) -> dict[str, Any]:
    return {node: looking(agent, world, node) for node in POOL[1:]}


def turns(agent: ModuleType, nodes: dict[str, Any], impact: str = "reboot") -> dict[str, str]:
    """What each waits for."""
    return {node: turn(agent, one, impact) for node, one in nodes.items()}


def test_rolled_one_follows_the_other_and_none_a_failed_one(agent: ModuleType, pool: World) -> None:
    last = {"gpu-005": looking(agent, pool, "gpu-005")}
    assert turns(agent, last) == {"gpu-005": "now"}, "without a roll they go at the same time"
    pool.publish(roll=InTurn(1))
    nodes = after_the_canary(agent, pool)
    assert list(turns(agent, nodes).values()) == ["now", *(f"waits for {node}" for node in POOL[1:4])]
    assert set(turns(agent, nodes, "daemon-restart").values()) == {"now"}, "nothing that jobs notice"
    say(pool, agent, "gpu-002", "accepted")
    say(pool, agent, "gpu-003", "failed")
    assert list(turns(agent, nodes).values())[1:] == [
        "now",
        "held back: gpu-003 failed: its fan",
        "waits for gpu-004",
    ]
    say(pool, agent, "gpu-004", "waiting", cause="held back: gpu-003 failed: its fan")
    assert turns(agent, nodes)["gpu-005"] == "held back: gpu-003 failed: its fan", "the first is named"
    say(pool, agent, "gpu-003", "accepted")
    assert turns(agent, nodes)["gpu-004"] == "now"


def test_rolled_two_at_a_time(agent: ModuleType, pool: World) -> None:
    pool.publish(roll=InTurn(2))
    nodes = after_the_canary(agent, pool)
    assert turns(agent, nodes) == {
        "gpu-002": "now",
        "gpu-003": "waits for gpu-002",
        "gpu-004": "waits for gpu-002",
        "gpu-005": "waits for gpu-003",
    }
    say(pool, agent, "gpu-002", "waiting", cause="drains: waits for jobs 12")
    assert turns(agent, nodes)["gpu-003"] == "now", "the one before it has begun"
    say(pool, agent, "gpu-003", "accepted")
    assert turns(agent, nodes)["gpu-005"] == "waits for gpu-004", "nobody overtakes"
    say(pool, agent, "gpu-002", "failed")
    assert turns(agent, nodes)["gpu-004"] == "held back: gpu-002 failed: its fan"


def test_a_node_that_gave_up_its_jobs_waits_for_no_turn(agent: ModuleType, pool: World) -> None:
    pool.publish(roll=InTurn(1))
    one = looking(agent, pool, "gpu-003")
    one.note("drained.json", {"reboot": False})
    assert turn(agent, one, "drain") == "now"


def test_nodes_that_do_not_answer_come_last_and_are_no_canaries(agent: ModuleType, pool: World) -> None:
    pool.publish(roll=InTurn(1, last=("gpu-001",)))
    say(pool, agent, "gpu-001", "failed")
    say(pool, agent, "gpu-002", "accepted")
    assert turn(agent, looking(agent, pool, "gpu-003"), "reboot") == "now"
    assert turn(agent, looking(agent, pool, "gpu-001"), "reboot") == "waits for gpu-005"


def test_work_of_a_node_in_a_roll_is_that_of_two_reports(agent: ModuleType, pool: World) -> None:
    pool.publish(roll=InTurn(2))
    for node in POOL:
        say(pool, agent, node, "accepted")
    one = looking(agent, pool, "gpu-005")
    asked: list[str] = []
    heard = one.report_of

    def listening(other: dict[str, str]) -> Any:
        asked.append(other["node"])
        return heard(other)

    one.report_of = listening
    assert turn(agent, one, "reboot") == "now"
    assert asked == ["controller", "gpu-001", "gpu-003", "gpu-004"]


def test_report_of_a_stranger_lets_nobody_go_on(agent: ModuleType, world: World, tmp_path: Path) -> None:
    world.publish()
    key_pair(tmp_path / "stranger")
    say(world, agent, "controller", "accepted", key=tmp_path / "stranger")
    assert turn(agent, looking(agent, world, "gpu-001")) == "waits for controller"


def test_who_waits_for_its_turn_starts_no_program(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many nodes wait at once; what they say is read again, and verified only when it is something else."""
    world.publish()
    say(world, agent, "controller", "working")
    one = looking(agent, world, "gpu-001")
    assert turn(agent, one) == "waits for controller"
    began: list[str] = []
    whole = agent.subprocess.run

    def run(argv: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        began.append(argv[0])
        done: subprocess.CompletedProcess[str] = whole(argv, **options)
        return done

    monkeypatch.setattr(agent.subprocess, "run", run)
    for _ in range(3):
        with pytest.raises(agent.Later, match="waits for controller"):
            one.step()
    assert began == []
    say(world, agent, "controller", "accepted")
    began.clear()
    assert turn(agent, one) == "now"
    assert began == ["ssh-keygen"]


def test_who_waited_looks_at_itself_once_and_goes_on(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.publish()
    one = started(agent, world, "gpu-001")
    did: list[str] = []

    def look(*_: object) -> dict[str, object]:
        did.append("looked")
        return {"drift": ["everything"], "digest": "", "packages": {}, "loose": []}

    def apply(*_: object) -> None:
        applied = world.node("gpu-001") / agent.APPLIED.lstrip("/")
        applied.write_text(json.dumps({"digest": one.mine["digest"]}))
        did.append("applied")
        one.say("accepted", "", 1)

    def sleep(_: float) -> None:
        did.append("waited")
        if did.count("waited") == 3:
            say(world, agent, "controller", "accepted")

    monkeypatch.setattr(one, "look", look)
    monkeypatch.setattr(one, "apply", apply)
    monkeypatch.setattr(agent.time, "sleep", sleep)
    assert one.run() == 0
    assert did == ["waited"] * 3 + ["looked", "applied"]
    report = json.loads(json.loads((world.stored / "reports" / "gpu-001").read_text())["signed"])
    assert (report["state"], report["digest"]) == ("accepted", world.desired().wanted["gpu-001"].digest)
