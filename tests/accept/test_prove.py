"""The whole acceptance of clusters/lab.yaml on nodes that answer from a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event as Signal
from typing import Any

import pytest
from answering import CAPTURED, CONTROL, GPU_NODES, Accept, Ask, World, ran

from clusterwright.accept.session import Ran


def test_a_healthy_cluster_is_accepted(accept: Accept) -> None:
    world = World()
    outcome = accept(world)
    assert outcome.failed == []
    assert outcome.acceptance.accepted and outcome.acceptance.simulated
    assert outcome.status("shared-home") == dict.fromkeys(["controller", "login", *GPU_NODES], "pass")
    assert outcome.status("gpu-isolation") == dict.fromkeys(GPU_NODES, "pass")
    assert outcome.status("all-reduce") == {"gpu-[001-002]": "pass"}
    for gate in ("membership", "batch-job", "accounting"):
        assert outcome.status(gate) == {"": "pass"}
    assert len(world.jobs) == 3
    assert world.asked_for == ["--gres=gpu:8"]
    assert all("--immediate=20" in job for job in world.jobs if job[0] in ("srun", "salloc"))
    told = [event for event in outcome.events if event.status != "progress"]
    assert len(told) == len(outcome.acceptance.gates)


@dataclass
class Running(World):
    """Jobs through srun begin, and end once the batch job was submitted."""

    submitted: Signal = field(default_factory=Signal)
    states: list[str] = field(default_factory=list)

    def _srun(self, ask: Ask) -> Ran:
        if "--test-only" not in ask.argv:
            self.states.append("RUNNING")
            assert self.submitted.wait(60)
        return super()._srun(ask)

    def _squeue(self, ask: Ask) -> Ran:
        return ran("\n".join(self.states) if "--format=%T" in ask.argv else "")

    def _sbatch(self, ask: Ask) -> Ran:
        assert len(self.states) == 2, "a batch job that waits keeps those waiting that srun asks for"
        self.submitted.set()
        return super()._sbatch(ask)


def test_the_batch_job_comes_when_the_others_have_begun(
    accept: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clusterwright.accept.cluster.BEGIN_SECONDS", 60.0)
    assert accept(Running()).failed == []


@dataclass
class Ending(World):
    """Epilogs run on behind the last job."""

    completing: list[str] = field(default_factory=lambda: ["20", "20"])

    def _squeue(self, ask: Ask) -> Ran:
        return ran(self.completing.pop() if "--format=%A" in ask.argv and self.completing else "")


def test_an_accepted_cluster_has_no_job_of_the_acceptance_left(accept: Accept) -> None:
    world = Ending()
    assert accept(world).failed == []
    assert world.completing == []


def test_a_gpu_has_the_files_that_its_vendor_gives_it(accept: Accept) -> None:
    outcome = accept(World(vendor="amd"))
    assert outcome.failed == []
    seen = {gate.seen for gate in outcome.acceptance.gates if gate.name == "gpu-isolation"}
    assert seen == {"/dev/dri/renderD128 open, 7 refused (EPERM)"}


def replaced(key: str, value: Any) -> Callable[[World], None]:
    return lambda world: setattr(world, key, value)


def text(key: str, old: str, new: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        assert old in getattr(world, key)
        setattr(world, key, getattr(world, key).replace(old, new))

    return change


def answer(node: str, program: str, given: Ran) -> Callable[[World], None]:
    return lambda world: world.answers.update({(node, program): given})


def isolation(vendor: str = "nvidia", **attempts: str) -> Callable[[World], None]:
    """What opening the file of GPU N (`devN`), or the `control` device, gave, where it was not EPERM."""

    def change(world: World) -> None:
        world.vendor = vendor
        found = dict.fromkeys(world.gpu_files, "EPERM") | {CONTROL[vendor]: "opened"}
        for name, value in attempts.items():
            file = CONTROL[vendor] if name == "control" else world.gpu_files[int(name[3:])]
            found[file] = value
        world.isolation = {"attempts": found}

    return change


def failing(node: str, program: str, error: str) -> Callable[[World], None]:
    return lambda world: world.answers.update({(node, program): ran(code=1, error=error)})


def reading(node: str, words: str) -> Callable[[World], None]:
    return lambda world: world.answers.update({(node, "cat"): ran(words)})


def drained(world: World) -> None:
    first, second = world.nodes.splitlines()
    world.nodes = f"{first.replace('State=IDLE', 'State=IDLE+DRAIN')}\n{second}\n"


def failed_daemon(world: World) -> None:
    shown = "Id=sackd.service\nLoadState=loaded\nActiveState=failed\nResult=exit-code\n"
    world.answers["login", "systemctl"] = ran(shown)


BOTH = [("gpu-isolation", "gpu-001"), ("gpu-isolation", "gpu-002")]
PAIR = [("all-reduce", "gpu-[001-002]")]
LOCKED = {f"dev{minor}": "EACCES" for minor in range(1, 8)}
CHANGES: dict[str, tuple[Callable[[World], None], list[tuple[str, str]]]] = {
    "a clock two seconds off": (replaced("skew", {"gpu-002": 2.0}), [("time-skew", "gpu-002")]),
    "another GPU opens": (isolation(dev0="ENXIO", dev5="opened"), BOTH),
    "its own GPU is refused": (isolation(), BOTH),
    "only file modes refuse": (isolation(dev0="ENXIO", **LOCKED), BOTH),
    "two GPUs given": (replaced("isolation", {"given": [0, 1]}), BOTH),
    "devices are not there": (
        replaced("isolation", {"attempts": {"/dev/nvidia0": "ENXIO", "/dev/nvidia1": "EPERM"}}),
        BOTH,
    ),
    "another of AMD's GPUs opens": (isolation("amd", dev0="opened", dev5="opened"), BOTH),
    "its own GPU of AMD's is refused": (isolation("amd"), BOTH),
    "the device that all GPUs need is refused": (isolation("amd", dev0="opened", control="EACCES"), BOTH),
    "no job of all GPUs": (
        replaced("refusal", "allocation failure: Requested node configuration is not available"),
        [("whole-nodes", "gpu-[001-002]")],
    ),
    "a wrong sum": (replaced("reduce", {"exact": False}), PAIR),
    "ranks alone": (replaced("reduce", {"ranks": 1}), PAIR),
    "both ranks on one node": (replaced("reduce", {"nodes": ["gpu-001"]}), PAIR),
    "no record of a job": (text("sacct", "18|", "99|"), [("accounting", "")]),
    "a record without GPUs": (text("sacct", ",gres/gpu=2", ""), [("accounting", "")]),
    "a record of another user": (text("sacct", "|ada|", "|root|"), [("accounting", "")]),
    "a drained node": (drained, [("slurm-state", "gpu-001")]),
    "a node that Slurm does not know": (
        text("nodes", "NodeName=gpu-002", "NodeName=gpu-003"),
        [("membership", ""), ("slurm-state", "gpu-002")],
    ),
    "sbatch refuses": (failing("login", "sbatch", "Invalid account"), [("batch-job", "")]),
    "slurmctld is gone": (failing("login", "scontrol", "connect failure"), [("scheduler", "")]),
    "no gate program": (failing("login", "gate", "No such file"), [("node-gate", "login")]),
    "home not there": (failing("gpu-002", "cat", "No such file"), [("shared-home", "gpu-002")]),
    "home that reads as a hole": (reading("gpu-002", "\0" * 17), [("shared-home", "gpu-002")]),
    "home of somebody else": (reading("gpu-002", "another\n"), [("shared-home", "gpu-002")]),
    "home not writable": (failing("login", "sh", "Permission denied"), [("shared-home", "login")]),
    "no user": (failing("login", "getent", ""), [("job-user", "login")]),
    "a daemon failed": (failed_daemon, [("daemons", "login")]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_one_fault_fails_exactly_its_gates(change: str, accept: Accept) -> None:
    world = World()
    apply, expected = CHANGES[change]
    apply(world)
    outcome = accept(world)
    assert outcome.failed == sorted(expected)
    assert not outcome.acceptance.accepted


def test_slurmd_before_its_gate_is_not_admitted(accept: Accept) -> None:
    shown = (CAPTURED / "systemctl-show.txt").read_text()
    world = World(answers={("gpu-001", "systemctl"): ran(shown)})
    assert accept(world).failed == []
    faults = {
        "After=sysinit.target munge.service clusterwright-gate.service": "After=",
        "Requires=clusterwright-gate.service": "Requires=",
        "Monotonic=3022097816": "Monotonic=1",
    }
    for old, new in faults.items():
        assert old in shown
        world = World(answers={("gpu-001", "systemctl"): ran(shown.replace(old, new))})
        assert accept(world).failed == [("admission", "gpu-001")]


def test_nodes_with_jobs_are_left_alone(accept: Accept) -> None:
    world = World(nodes=(CAPTURED / "nodes-busy.txt").read_text())
    outcome = accept(world)
    assert outcome.acceptance.accepted
    assert outcome.status("jobs") == dict.fromkeys(GPU_NODES, "skip")
    assert world.jobs == []


def test_one_idle_node_talks_to_itself_and_says_so(accept: Accept) -> None:
    idle, busy = ((CAPTURED / f"nodes-{kind}.txt").read_text().splitlines() for kind in ("idle", "busy"))
    world = World(nodes=f"{idle[0]}\n{busy[1]}\n", sacct=World().sacct.replace("gres/gpu=2", "gres/gpu=1"))
    outcome = accept(world)
    assert outcome.failed == []
    [gate] = [gate for gate in outcome.acceptance.gates if gate.name == "all-reduce"]
    assert gate.node == "gpu-001" and gate.expected == "an exact sum over 2 ranks on the only node"
    assert not any("gpu-002" in word for job in world.jobs for word in job)


def test_idle_nodes_that_others_took_are_skipped(accept: Accept) -> None:
    world = World(taken=True)
    outcome = accept(world)
    assert set(outcome.status("gpu-isolation").values()) == {"skip"}
    assert set(outcome.status("all-reduce").values()) == {"skip"}
    assert world.cancelled, "what may still be in the queue is cancelled"
    assert outcome.acceptance.accepted


def test_a_node_that_refuses_a_job_is_named_and_not_the_one_beside_it(accept: Accept) -> None:
    outcome = accept(World(refuses="gpu-002"))
    assert outcome.status("gpu-isolation") == {"gpu-001": "skip", "gpu-002": "fail"}
    assert not outcome.acceptance.accepted


def test_a_node_that_is_gone_fails_its_gate_and_stops_nothing(accept: Accept) -> None:
    world = World(gone=frozenset({"gpu-002"}))
    outcome = accept(world)
    assert outcome.failed == [("answers", "gpu-002")]
    assert outcome.status("jobs") == {"gpu-002": "skip"}, "Slurm calls it idle, and a job there would hang"
    assert not any("gpu-002" in word for job in world.jobs for word in job)
    assert outcome.status("accounting") == {"": "pass"}


def test_without_the_login_node_the_controller_is_asked(accept: Accept) -> None:
    outcome = accept(World(gone=frozenset({"login"})))
    assert outcome.failed == [("answers", "login")]
    assert outcome.status("membership") == {"": "pass"}


def test_without_both_nothing_can_be_asked(accept: Accept) -> None:
    outcome = accept(World(gone=frozenset({"login", "controller"})))
    assert outcome.failed == [("answers", "controller"), ("answers", "login"), ("scheduler", "")]
