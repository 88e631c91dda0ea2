"""The lab, through the real command: what a person waits for, beside plain steps of the same machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.result import Reference, Result
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.rootfs import Base, ensure_base

_COMMAND = str(Path(sys.executable).parent / "clusterwright")
_DESCRIPTION = """\
cluster: {name}
site: {{provider: lab}}
pools:
  controller: {{roles: controller, machine: lab-small}}
  login: {{roles: login, machine: lab-small}}
  gpu: {{roles: compute, machine: lab-h100, count: {nodes}}}
users:
  ada: {{uid: 2001}}
"""
_PAIR = """\
cluster: bench-pair
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small, count: 2}
  login: {roles: [login, storage], machine: lab-small}
  gpu: {roles: compute, machine: lab-h100}
scheduler: {state: /home/slurm}
users:
  ada: {uid: 2001}
"""
_FIRST_JOB = "timeout 120 sh -c 'until srun true 2>/dev/null; do sleep 0.2; done'"
_JOBS = 200
_END = ("", "", "")
_MEMORY = "cat /proc/[0-9]*/smaps_rollup 2>/dev/null | awk '/^Pss:/ {kib += $2} END {print kib}'"
_PROLOGS = """for run in $(seq 10); do
    start=$(date +%s.%N)
    SLURM_JOB_GPUS=0 /etc/slurm/prolog > /dev/null || exit
    echo "$(date +%s.%N) $start" | awk '{print $1 - $2}'
done"""
_CLEAN_RUNS = "for run in $(seq 100); do /usr/lib/clusterwright/gate --quick | grep ^FAIL; done; true"
_TIMEOUT = "scontrol show config | sed -n 's/^SlurmctldTimeout *= //p'"
_SETTINGS = "scontrol show config | grep -E '^(SchedulerParameters|SchedulerType) '"


@dataclass(frozen=True, slots=True)
class Bench:
    """A cluster of its own, in a folder of its own."""

    folder: Path
    name: str
    environment: Mapping[str, str]

    def run(self, *words: str) -> tuple[float, str]:
        """Seconds, and what was printed to standard output."""
        start = time.perf_counter()
        done = subprocess.run(
            [_COMMAND, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - start
        if done.returncode:
            raise RuntimeError(f"clusterwright {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
        return seconds, done.stdout

    def outcome(self, *words: str) -> tuple[float, Any]:
        seconds, printed = self.run(*words, "--json")
        return seconds, json.loads(printed.splitlines()[-1])["outcome"]

    def moments(self, *words: str) -> tuple[Mapping[tuple[str, str, str], float], Any]:
        """Seconds to the first event of each (step, status, node), and to the end; and the outcome."""
        argv = [_COMMAND, *words, "--json"]
        seen: dict[tuple[str, str, str], float] = {}
        start = time.perf_counter()
        with subprocess.Popen(
            argv, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            said: Any = {}
            for line in process.stdout:
                said = json.loads(line)
                event = said.get("event", {})
                key = event.get("step", ""), event.get("status", ""), event.get("node") or ""
                seen.setdefault(key, time.perf_counter() - start)
        seen[_END] = time.perf_counter() - start
        if process.returncode:
            raise RuntimeError(f"clusterwright {' '.join(words)}: exit {process.returncode}")
        return seen, said["outcome"]

    def on(self, node: str, script: str) -> str:
        return self.run("ssh", self.name, node, "--", "sh", "-c", script)[1]


def _bench(name: str, nodes: int, cache: Path | None = None) -> AbstractContextManager[Bench]:
    return bench_of(name, _DESCRIPTION.format(name=name, nodes=nodes), cache)


@contextmanager
def bench_of(name: str, description: str, cache: Path | None = None) -> Iterator[Bench]:
    """A cluster of this description, until it was measured."""
    with tempfile.TemporaryDirectory(prefix="clusterwright-bench-") as folder:
        state = {"XDG_STATE_HOME": f"{folder}/state", **({"XDG_CACHE_HOME": str(cache)} if cache else {})}
        bench = Bench(Path(folder), name, {**os.environ, **state})
        (bench.folder / "cluster.yaml").write_text(description)
        try:
            yield bench
        finally:
            subprocess.run(
                [_COMMAND, "destroy", name], env=bench.environment, capture_output=True, check=False
            )


def results() -> Iterator[Result]:
    """Nothing where a lab cannot be made."""
    if missing(LabHome.of_user()):
        return
    yield from _four_nodes()
    yield from _from_nothing()
    yield from _sixteen_nodes()
    yield _taken_over()


def _from_nothing() -> Iterator[Result]:
    """With the packages downloaded before, so that a figure is not one of the network's speed."""
    with _empty_cache() as cache:
        start = time.perf_counter()
        ensure_base(LabHome(cache / "clusterwright" / "lab", cache / "state"), lambda *_: None, Base())
        base = Reference("mmdebstrap alone", time.perf_counter() - start)
    with _empty_cache() as cache, _bench("bench-new", 2, cache) as bench:
        seen, outcome = bench.moments("up", "cluster.yaml")
        assert outcome["accepted"]
        what = "`up`, nothing made before, to the accepted two-node job"
        yield Result(what, seen[_END], 90, reference=base, note="packages downloaded before")
        baked = seen["image", "ok", ""] - seen["image", "started", ""] - base.figure
        note = "the base apart, which is measured alone"
        yield Result("the image of that, with the GPU stack", baked, 60, reference=base, note=note)


@contextmanager
def _empty_cache() -> Iterator[Path]:
    """A cache with downloaded packages and nothing else."""
    archives = LabHome.of_user().package_archives
    with tempfile.TemporaryDirectory(prefix="clusterwright-cache-") as folder:
        shutil.copytree(archives, Path(folder) / "clusterwright" / "lab" / archives.name)
        yield Path(folder)


def _four_nodes() -> Iterator[Result]:
    with _bench("bench", 2) as bench:
        bench.run("up", "cluster.yaml")
        bench.run("destroy", bench.name)
        seconds, outcome = bench.outcome("up", "cluster.yaml")
        assert outcome["accepted"]
        yield Result("`up`, image cached, to the accepted two-node job", seconds, 15)
        ping = Reference("`ansible -m ping` of one node", _ansible_ping())
        seconds, outcome = bench.outcome("up", "cluster.yaml")
        changed = [name for name, node in outcome["nodes"].items() if node["changed"]]
        assert not changed, changed
        yield Result("`up` with nothing to change, 4 nodes", seconds, 2, reference=ping, note="0 changed")
        yield from _gates(bench)
        yield from _replaced(bench)
        yield _jobs_a_second(bench)


def _gates(bench: Bench) -> Iterator[Result]:
    """The same program is Slurm's health check, and its prolog before a job with GPUs."""
    worst = max(map(float, bench.on("gpu-001", _PROLOGS).split()))
    yield Result("prolog of a job with GPUs, the slowest of 10", worst, 2)
    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda node: bench.on(node, _CLEAN_RUNS), ("gpu-001", "gpu-002")))
    alarms = [line for text in said for line in text.splitlines()]
    note = alarms[0] if alarms else "on two nodes"
    yield Result("false alarms in 200 runs of the node gates", len(alarms), 0, "", note=note)


def _replaced(bench: Bench) -> Iterator[Result]:
    """Slurm gives the node jobs before the gates have proved the whole cluster again."""
    seen, outcome = bench.moments("node", "replace", bench.name, "gpu-001")
    assert set(outcome["nodes"]) == {"gpu-001"}
    idle, accepted = seen["slurm", "ok", "gpu-001"], seen[_END]
    yield Result("`node replace`, to idle in Slurm", idle, 10, note="0 tasks on other nodes")
    yield Result("`node replace`, to accepted", accepted, 10)


def _jobs_a_second(bench: Bench) -> Result:
    script = f"sbatch --wait --array=1-{_JOBS} --output=/dev/null --wrap=true"
    seconds, _ = bench.run("ssh", bench.name, "--user", "ada", "--", "sh", "-c", script)
    settings = bench.on("controller", _SETTINGS)
    note = "; ".join(" ".join(line.split()) for line in settings.splitlines())
    return Result(f"jobs started a second, array of {_JOBS} `true`", _JOBS / seconds, unit="/s", note=note)


def _taken_over() -> Result:
    """From the loss of the first controller's power to the end of the first job that is asked for then."""
    with bench_of("bench-pair", _PAIR) as bench:
        bench.run("up", "cluster.yaml", "--no-accept")
        lost = [
            _COMMAND,
            "ssh",
            bench.name,
            "controller-001",
            "--",
            "systemctl",
            "poweroff",
            "--force",
            "--force",
        ]
        start = time.perf_counter()
        subprocess.run(lost, env=bench.environment, capture_output=True, check=False)
        lab = Lab(LabHome.of_user(bench.environment), bench.name)
        while any(one.name == "controller-001" and one.state == "running" for one in lab.status().nodes):
            time.sleep(0.05)
        bench.run("ssh", bench.name, "--user", "ada", "--", "sh", "-c", _FIRST_JOB)
        seconds = time.perf_counter() - start
        note = "SlurmctldTimeout " + bench.on("controller-002", _TIMEOUT).strip()
        return Result("controller fail-over, to the first new job", seconds, 30, note=note)


def _sixteen_nodes() -> Iterator[Result]:
    with _bench("bench-16", 16) as bench:
        seconds, outcome = bench.outcome("up", "cluster.yaml")
        assert outcome["accepted"]
        yield Result("`up` of 16 compute nodes, image cached", seconds, 60)
        seconds, _ = bench.run("accept", bench.name)
        yield Result("`accept` on 16 compute nodes", seconds, 20)
        used = bench.on("gpu-001", _MEMORY)
        yield Result("memory of a compute node", int(used) / 2**10, 150, "MiB", note="of its processes (PSS)")


def _ansible_ping() -> float:
    start = time.perf_counter()
    ansible = str(Path(sys.executable).parent / "ansible")
    ping = [ansible, "localhost", "--connection", "local", "--module-name", "ping"]
    subprocess.run(ping, check=True, capture_output=True)
    return time.perf_counter() - start
