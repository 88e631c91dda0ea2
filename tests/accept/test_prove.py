"""The whole acceptance of clusters/lab.yaml on nodes that answer from a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from clusterwright.accept import dcgm, prove
from clusterwright.accept.report import loads
from clusterwright.accept.result import Acceptance
from clusterwright.accept.session import Clock, NoAnswer, Ran
from clusterwright.converge.target import Target
from clusterwright.event import Event
from clusterwright.handoff import Handoff
from clusterwright.spec.nodeset import expand

GPU_NODES = ("gpu-001", "gpu-002")
CAPTURED = Path(__file__).parent / "captured"


def ran(output: str = "", *, code: int = 0, error: str = "") -> Ran:
    return Ran(code, output, error, 0.01)


@dataclass(frozen=True)
class Ask:
    node: str
    argv: tuple[str, ...]


@dataclass
class World:
    """A healthy cluster; a test changes one answer."""

    nodes: str = field(default_factory=lambda: (CAPTURED / "nodes-idle.txt").read_text())
    sacct: str = field(default_factory=lambda: (CAPTURED / "sacct.txt").read_text())
    gone: frozenset[str] = frozenset()
    skew: Mapping[str, float] = field(default_factory=dict)
    answers: dict[tuple[str, str], Ran] = field(default_factory=dict)
    """By node and program."""
    vendor: str = "nvidia"
    """Of the GPUs."""
    isolation: dict[str, Any] = field(default_factory=dict)
    reduce: dict[str, Any] = field(default_factory=dict)
    jobs: list[tuple[str, ...]] = field(default_factory=list)
    cancelled: list[tuple[str, ...]] = field(default_factory=list)
    taken: bool = False
    """Others' jobs start on the idle nodes first."""
    refuses: str = ""
    """A node whose prolog refuses every job and drains it."""
    refusal: str = ""
    """What `srun --test-only` says."""
    asked_for: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """The shared home."""
    components: tuple[str, ...] = ()
    """Of the lock, on the GPU nodes' pool."""
    slow: str = ""
    """A node that spoils NCCL's bandwidth between nodes."""
    within: Mapping[str, float] = field(default_factory=dict)
    """NCCL's bandwidth of a node by itself, where it is not 478 GB/s."""
    drained: list[str] = field(default_factory=list)
    container: dict[str, Any] = field(default_factory=dict)
    diag: str = field(default_factory=lambda: (CAPTURED / "dcgmi-diag.json").read_text())

    @property
    def gpu_files(self) -> list[str]:
        return [f"{FIRST[self.vendor][0]}{FIRST[self.vendor][1] + minor}" for minor in range(8)]

    def run(self, ask: Ask) -> Ran:
        name = Path(ask.argv[0]).name
        if (ask.node, name) in self.answers:
            return self.answers[ask.node, name]
        found: Callable[[Ask], Ran] = getattr(self, f"_{name}", lambda _: ran())
        return found(ask)

    def _getent(self, ask: Ask) -> Ran:
        known = {"ada": "ada:x:2001:2001::/home/ada:/bin/bash"}
        return ran(known[ask.argv[2]]) if ask.argv[2] in known else ran(code=2)

    def _gate(self, ask: Ask) -> Ran:
        names = ["plan", "name", *(["gpus"] if ask.node in GPU_NODES else []), "mounts"]
        rows = [
            {"name": name, "status": "pass", "expected": "", "seen": "well", "remedy": "", "seconds": 0.0}
            for name in names
        ]
        return ran(json.dumps({"gates": rows}))

    def _systemctl(self, ask: Ask) -> Ran:
        blocks = []
        for unit in ask.argv[3:]:
            after = "clusterwright-gate.service" if unit == "slurmd.service" else ""
            entered = 100 if "gate" in unit else 200
            blocks.append(
                f"Id={unit}\nLoadState=loaded\nActiveState=active\nResult=success\nAfter={after}\n"
                f"Requires={after}\nActiveEnterTimestampMonotonic={entered}"
            )
        return ran("\n\n".join(blocks))

    def _sh(self, ask: Ask) -> Ran:
        token = ask.argv[2].split("echo ")[1].split()[0]
        folder = f"/home/ada/.clusterwright-accept-{token}"
        self.files = {f"{folder}/token": f"{token}\n", f"{folder}/batch.out": "ada\ngpu-001\n"}
        return ran(folder + "\n")

    def _cat(self, ask: Ask) -> Ran:
        return (
            ran(self.files[ask.argv[1]])
            if ask.argv[1] in self.files
            else ran(code=1, error="cat: No such file")
        )

    def _rm(self, ask: Ask) -> Ran:
        self.files = {path: text for path, text in self.files.items() if not path.startswith(ask.argv[2])}
        return ran()

    def _dcgmi(self, ask: Ask) -> Ran:
        assert ask.argv[1:4] == ("diag", "-r", "1"), "a higher level takes minutes"
        return ran(self.diag)

    def _salloc(self, ask: Ask) -> Ran:
        """Each node for itself, then all of them together."""
        nodes = expand(next(word for word in ask.argv if word.startswith("--nodelist=")).partition("=")[2])
        found = {"gate": "nccl-node", "job": "20", "program": "/opt/all_reduce_perf", "code": 0}
        heads = [found | {"node": name} for name in nodes]
        tables = {name: _table([name], self.within.get(name, 478.0)) for name in nodes}
        said = [{"node": name, "said": line} for name in nodes for line in tables[name].splitlines()]
        whole = {"together": self._nccl(nodes).output, "code": 0, "seconds": 0.2}
        self.jobs.append(ask.argv)
        return ran("\n".join(map(json.dumps, [*heads, *said, {"alone": 0.1}, whole])))

    def _nccl(self, nodes: list[str]) -> Ran:
        return ran(_table(nodes, 97.0 if self.slow in nodes else 388.0))

    def _scontrol(self, ask: Ask) -> Ran:
        if ask.argv[1] == "update":
            self.drained.append(ask.argv[2].partition("=")[2])
            return ran()
        return ran(self.nodes if ask.argv[2] == "nodes" else (CAPTURED / "job-completed.txt").read_text())

    def _sbatch(self, ask: Ask) -> Ran:
        self.jobs.append(ask.argv)
        return ran("17\n")

    def _srun(self, ask: Ask) -> Ran:
        if "--test-only" in ask.argv:
            self.asked_for.append(next(word for word in ask.argv if word.startswith("--gres")))
            return ran(code=1, error=self.refusal) if self.refusal else ran()
        if self.taken:
            error = "srun: error: Unable to allocate resources: Requested nodes are busy"
            return ran(code=1, error=error)
        if self.refuses:
            drain = "State=IDLE+DRAIN Reason=clusterwright: gate gpus: x [root@now]"
            lines = self.nodes.splitlines()
            found = [line for line in lines if line.startswith(f"NodeName={self.refuses} ")]
            assert len(found) == 1
            self.nodes = self.nodes.replace(found[0], found[0].replace("State=IDLE ", f"{drain} "))
            return ran(code=1, error="srun: error: Something is wrong with the boot of the nodes.")
        self.jobs.append(ask.argv)
        nodelist = next(word for word in ask.argv if word.startswith("--nodelist="))
        nodes = expand(nodelist.partition("=")[2])
        if "--gres=gpu:8" in ask.argv:
            return self._nccl(nodes)
        if "--gres=gpu:1" in ask.argv:
            if any('"gate": "container"' in word for word in ask.argv):
                found = {"gate": "container", "job": "21", "given": "0", "devices": ["0"], "code": 0}
                rows = [found | {"refused": False, "output": "", "node": name} for name in nodes]
                return ran("\n".join(json.dumps(row | self.container) for row in rows))
            attempts = dict.fromkeys(self.gpu_files, "EPERM") | {self.gpu_files[0]: "ENXIO"}
            attempts[CONTROL[self.vendor]] = "opened"
            rows = [
                {"gate": "gpu-isolation", "job": "19", "node": name, "given": [0], "attempts": attempts}
                | self.isolation
                for name in nodes
            ]
            return ran("\n".join(map(json.dumps, rows)))
        row = {
            "gate": "all-reduce",
            "job": "18",
            "nodes": nodes,
            "ranks": 2,
            "exact": True,
            "latency_us": 16.0,
            "large_seconds": 0.02,
            "large_bytes": 16 << 20,
            "library": "Open MPI v5.0.7",
        }
        return ran(json.dumps(row | self.reduce))

    def _scancel(self, ask: Ask) -> Ran:
        self.cancelled.append(ask.argv)
        return ran()

    def _sacct(self, _: Ask) -> Ran:
        return ran(self.sacct)


def _table(hosts: list[str], bus: float) -> str:
    ranks = "".join(
        f"#  Rank {n} Group  0 Pid 1 on {host} device 0 [1b] H100\n" for n, host in enumerate(hosts)
    )
    size = f"8589934592 2147483648 float sum -1 1 1 {bus} N/A 1 1 {bus} N/A"
    return f"# nThread 1 nGpus 8\n{ranks}gpu-001:1:1 [0] NCCL INFO Using network IB\n{size}\n"


@dataclass
class Outcome:
    acceptance: Acceptance
    events: list[Event]

    @property
    def failed(self) -> list[tuple[str, str]]:
        return sorted((gate.name, gate.node) for gate in self.acceptance.failed)

    def status(self, name: str) -> dict[str, str]:
        return {gate.node: gate.status for gate in self.acceptance.gates if gate.name == name}


Accept = Callable[[World], Outcome]


@pytest.fixture
def accept(lab: Handoff, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Accept:
    def run(world: World) -> Outcome:
        class Stand:
            def __init__(self, target: Target) -> None:
                self.node = target.name

            def __enter__(self) -> Stand:
                return self

            def __exit__(self, *_: object) -> None: ...

            def clock(self) -> Clock:
                if self.node in world.gone:
                    raise NoAnswer("No route to host")
                return Clock(world.skew.get(self.node, 0.001), 0.002)

            def run(self, *argv: str, **_: object) -> Ran:
                if self.node in world.gone:
                    raise NoAnswer("No route to host")
                return world.run(Ask(self.node, argv))

        monkeypatch.setattr(prove, "Session", Stand)
        monkeypatch.setattr(prove, "RECORD_SECONDS", 0.2)
        monkeypatch.setattr(prove, "BATCH_SECONDS", 0.2)
        targets = [Target(n.name, n.address, 22, "root", tmp_path, tmp_path) for n in lab.nodes]
        units = {"controller": ["slurmctld.service"], "login": ["sackd.service"]}
        events: list[Event] = []
        stacks = {"gpu": {name: {} for name in world.components}}
        hardware = {name: replace(row, gpu_vendor=world.vendor) for name, row in lab.hardware.items()}
        proven = replace(
            lab, hardware=hardware, software={**lab.software, "stacks": stacks, "containers": True}
        )
        acceptance = prove.accept(
            proven, targets, units=units, report=events.append, run_dir=tmp_path / "run"
        )
        assert loads((tmp_path / "run/accept.json").read_text()) == acceptance
        assert world.files == {}, "the folder in the shared home is removed"
        assert all(gate.remedy for gate in acceptance.failed)
        return Outcome(acceptance, events)

    return run


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
    assert len(outcome.events) == len(outcome.acceptance.gates)


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


def drained(world: World) -> None:
    first, second = world.nodes.splitlines()
    world.nodes = f"{first.replace('State=IDLE', 'State=IDLE+DRAIN')}\n{second}\n"


def failed_daemon(world: World) -> None:
    shown = "Id=sackd.service\nLoadState=loaded\nActiveState=failed\nResult=exit-code\n"
    world.answers["login", "systemctl"] = ran(shown)


FIRST = {"nvidia": ("/dev/nvidia", 0), "amd": ("/dev/dri/renderD", 128)}
CONTROL = {"nvidia": "/dev/nvidiactl", "amd": "/dev/kfd"}
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


def test_gpus_with_a_stack_are_proven_with_nccl_and_dcgm(accept: Accept) -> None:
    outcome = accept(World(components=("nccl", "dcgm")))
    assert outcome.failed == []
    assert outcome.status("nccl-node") == dict.fromkeys(GPU_NODES, "pass")
    assert outcome.status("nccl-fabric") == {"gpu-[001-002]": "pass"}
    assert outcome.status("dcgm-diag") == dict.fromkeys(GPU_NODES, "pass")
    figures = [gate.seen for gate in outcome.acceptance.gates if gate.name.startswith("nccl")]
    assert all("rehearsal" in seen and "no performance result" in seen for seen in figures)


def test_a_slow_node_is_named_and_kept_out(accept: Accept) -> None:
    world = World(components=("nccl",), within={"gpu-002": 239.0})
    outcome = accept(world)
    assert outcome.failed == [("nccl-node", "gpu-002")]
    assert world.drained == ["gpu-002"]
    assert outcome.status("nccl-fabric") == {}, "one node is left, and nobody to try it with"


def test_when_no_node_is_well_none_is_drained(accept: Accept) -> None:
    world = World(components=("nccl",), slow="gpu-002")
    assert accept(world).failed == [("nccl-fabric", "gpu-001"), ("nccl-fabric", "gpu-002")]
    assert world.drained == [], "of two, either may be the one"


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda text: text.replace('"Pass"', '"Fail"', 1), "software"),
        (lambda _: "Error: unable to establish a connection to the host", "unable to establish"),
        (lambda _: "", "exit status 0"),
    ],
)  # fmt: skip
def test_what_dcgm_finds_is_told(change: Callable[[str], str], seen: str, accept: Accept) -> None:
    world = World(components=("dcgm",))
    world.diag = change(world.diag)
    outcome = accept(world)
    assert outcome.failed == [("dcgm-diag", name) for name in GPU_NODES]
    assert all(seen in gate.seen for gate in outcome.acceptance.failed)


def test_a_diagnosis_that_hangs_hangs_nothing(accept: Accept) -> None:
    world = World(
        components=("dcgm",), answers={("gpu-001", "dcgmi"): ran(code=124, error="no end within 45 s")}
    )
    outcome = accept(world)
    assert outcome.failed == [("dcgm-diag", "gpu-001")]
    assert outcome.acceptance.failed[0].seen == "no answer in 45 s"


def test_dcgm_3_words_its_report_otherwise() -> None:
    result = {"gpu_id": "0", "status": "Fail", "warnings": "Persistence mode for GPU 0 is disabled."}
    category = {"category": "Deployment", "tests": [{"name": "Persistence Mode", "results": [result]}]}
    text = json.dumps({"DCGM GPU Diagnostic": {"test_categories": [category]}})
    assert dcgm.failures(text) == ["Persistence Mode: Persistence mode for GPU 0 is disabled."]
    assert dcgm.failures(text.replace("Fail", "Pass")) == []


@pytest.mark.parametrize(
    ("report", "seen"),
    [
        ({}, ""),
        ({"devices": []}, "no GPU instead of /dev/nvidia0"),
        ({"devices": ["0", "1"]}, "/dev/nvidia0, /dev/nvidia1 instead of /dev/nvidia0"),
        ({"refused": True}, "/dev/nvidia0 is there and cannot be opened"),
        ({"code": 125, "output": "unresolvable CDI devices nvidia.com/gpu=0"}, "unresolvable CDI devices"),
    ],
)
def test_a_container_has_the_gpu_of_its_job(report: dict[str, Any], seen: str, accept: Accept) -> None:
    outcome = accept(World(components=("container_toolkit",), container=report))
    assert outcome.failed == ([("container", name) for name in GPU_NODES] if seen else [])
    assert all(seen in gate.seen for gate in outcome.acceptance.failed)
    assert set(outcome.status("container")) == set(GPU_NODES)
