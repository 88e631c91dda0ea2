"""A cluster whose nodes answer the acceptance from a table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clusterwright.accept.result import Acceptance
from clusterwright.accept.session import Ran
from clusterwright.event import Event
from clusterwright.spec.nodeset import expand

GPU_NODES = ("gpu-001", "gpu-002")
CAPTURED = Path(__file__).parent / "captured"
FIRST = {"nvidia": ("/dev/nvidia", 0), "amd": ("/dev/dri/renderD", 128)}
CONTROL = {"nvidia": "/dev/nvidiactl", "amd": "/dev/kfd"}


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

    def _python3(self, ask: Ask) -> Ran:
        """A program in an allocation: one step, or NCCL's several."""
        asked = json.loads(ask.argv[3])
        options, command = asked["options"], asked["command"]
        if command[0] == "srun":
            return self._srun(Ask(ask.node, ("srun", *options, *command[1:])))
        return self._salloc(Ask(ask.node, ("salloc", *options, *command)))

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
