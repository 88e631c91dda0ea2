"""Jobs of a node that changes itself: they end first, and new ones come when its gates have passed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from .agents import looking, started
from .world import World


class Machine:
    """What a node's agent does to its machine, written down instead of done."""

    def __init__(self, agent: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.did: list[str] = []
        self.jobs = "12\n"
        self.boot = "first"
        self.drain = ""
        monkeypatch.setattr(agent, "slurm", self.slurm)
        monkeypatch.setattr(agent, "boot", lambda: self.boot)
        monkeypatch.setattr(agent.subprocess, "run", self.run)
        monkeypatch.setattr(agent.time, "sleep", lambda _: None)

    def slurm(self, *argv: str) -> str:
        if argv[0] == "squeue":
            return self.jobs
        if argv[0] == "sinfo":
            return self.drain
        self.did.append(" ".join(argv[:4]))
        return ""

    def run(self, argv: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        self.did.append(argv[0].rpartition("/")[2] + " ".join(["", *argv[1:]]))
        return subprocess.CompletedProcess(argv, 0, "", "")


@pytest.mark.parametrize("impact", ["drain", "reboot"])
def test_jobs_end_before_the_node_changes_and_it_takes_new_ones_after(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch, impact: str
) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    said: list[str] = []
    monkeypatch.setattr(one, "say", lambda state, *_: said.append(state))
    machine = Machine(agent, monkeypatch)
    drained = "scontrol update nodename=gpu-001 state=drain"
    resumed = "scontrol update nodename=gpu-001 state=resume"
    with pytest.raises(agent.Later, match="drains: waits for jobs 12"):
        one.give_up_jobs(impact)
    assert machine.did == [drained]
    machine.jobs = ""
    one.give_up_jobs(impact)
    if impact == "reboot":
        with pytest.raises(agent.Failed, match="it did not reboot"):
            one.finish(1)
        assert machine.did[2:] == ["systemctl reboot"]
        machine.boot = "second"
    machine.did.clear()
    one.finish(1)
    assert machine.did == ["gate", resumed]
    assert said[-1] == "accepted"
    machine.did.clear()
    one.finish(0)
    assert machine.did == ["gate"], "it is resumed once"


@pytest.mark.parametrize(
    ("drain", "kept"),
    [
        ("draining|root|fan noise\n", True),
        ("draining|root|clusterwright: gate ecc: Xid 48\n", False),
        ("drained|slurm|gres/gpu count reported lower than configured (0 < 8)\n", False),
        ("mixed|Unknown|none\n", False),
    ],
)
def test_a_drain_of_a_persons_is_kept(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch, drain: str, kept: bool
) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    monkeypatch.setattr(one, "say", lambda *_: None)
    machine = Machine(agent, monkeypatch)
    machine.jobs, machine.drain = "", drain
    one.give_up_jobs("drain")
    one.finish(1)
    told = [words.rpartition("=")[2] for words in machine.did if words.startswith("scontrol")]
    assert told == ([] if kept else ["drain", "resume"])


def test_live_change_leaves_jobs_alone(
    agent: ModuleType, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    machine = Machine(agent, monkeypatch)
    one.give_up_jobs("daemon-restart")
    assert machine.did == []


def test_cost_of_a_change_is_that_from_where_the_node_is(agent: ModuleType, world: World) -> None:
    world.publish()
    one = looking(agent, world, "gpu-001")
    one.mine = {"digest": "c", "since": {"a": "reboot", "b": "live"}}
    assert [one.impact_of(digest) for digest in ("", "c", "a", "b", "long ago")] == [
        "live",
        "live",
        "reboot",
        "live",
        "drain",
    ]


def test_a_node_that_its_gate_drained_takes_jobs_as_soon_as_it_is_whole(
    agent: ModuleType, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    gate.write_text(f'#!/bin/sh\necho "asked $*" >>{tmp_path}/asked\n')
    gate.chmod(0o755)
    monkeypatch.setattr(agent, "GATE", str(gate))
    one = started(agent, world, "gpu-001")
    drain = world.node("gpu-001") / "run/clusterwright/drain"
    drain.parent.mkdir(parents=True)
    for left in ("no", "yes"):
        drain.write_text(left)
        one.prove()
    assert (tmp_path / "asked").read_text().splitlines() == ["asked ", "asked ", "asked --quick"]
