"""Real Slurm of three Debian releases reads what is rendered, and has nothing to complain about.

22.05 is bookworm's, 24.11 trixie's, 26.05 forky's. 23.11 and 25.11 are in no Debian release at hand: goldens
are all that holds them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clusterwright.handoff import Handoff
from clusterwright.providers.lab.cgroup import cgroup_facts
from clusterwright.render import render

from . import examples, sample
from .daemons import Stage, place, place_files, skip_without_cgroup_v1, stage, start_controller, start_node
from .roots import SUITES, Unavailable, root

pytestmark = pytest.mark.slurm

EXPECTED = {
    r"(node|job|reservation|trigger) state file|No fed_mgr state file|Trying backup state save file": (
        "a first start finds no state of an earlier one"
    ),
    r"Database settings not recommended values: innodb_buffer_pool_size$": (
        "the stage gives the database little memory, as a controller with less than 16 GiB does"
    ),
    r"update cluster: Connection refused|We can't find assoc \d+ on cluster": (
        "slurmdbd tells a controller that registers for the first time, and it does not listen yet"
    ),
    r"_shutdown_bu_thread:send/recv \S+: (Connection refused|Network is unreachable)": (
        "the first of several controllers asks the others to step down, and only the first is started"
    ),
    r"High latency for \d+ calls to gettimeofday": (
        "the daemons time the machine's clock when they start, and this one is busy with tests"
    ),
    r"Cannot find slurmd memory cgroup": (
        "26.05 looks for its own group below /slurm, which exists only once a job ran (cgroup/v1 only)"
    ),
}
"""Errors that a good start logs, and why."""


GOLDEN = Path(__file__).parents[1] / "golden"


def kind(example: str, release: str) -> frozenset[tuple[str, str]]:
    """Which settings an example gives its daemons, in which file; values do not make another kind."""
    said = re.compile(r"^\s*([A-Za-z]+)=", re.MULTILINE)
    files = render(examples.handoff(example, release))
    return frozenset((file.path, key) for file in files for key in said.findall(file.content))


def of_each_kind(release: str) -> list[str]:
    """Those with goldens and one more for each kind that they leave, of what the release can have."""
    unknown = {"block"} if release < "23.11" else set()  # topology/block came with 23.11
    found: dict[frozenset[tuple[str, str]], str] = {}
    possible = [n for n in examples.NAMES if examples.handoff(n, release).fabric["topology"] not in unknown]
    reviewed = [name for name in possible if (GOLDEN / name).is_dir()]
    for name in (*reviewed, *possible):
        found.setdefault(kind(name, release), name)
    return sorted({*reviewed, *found.values()})


CASES = [(release, example) for release in sorted(SUITES) for example in of_each_kind(release)]


def carrying(release: str) -> Path:
    try:
        return root(release)
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=sorted(SUITES))
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def complaints(log: Path) -> list[str]:
    lines = log.read_text(errors="replace").splitlines()
    bad = [line for line in lines if re.search(r"\b(error|fatal|defunct)\b", line, flags=re.IGNORECASE)]
    return [line for line in bad if not any(re.search(pattern, line) for pattern in EXPECTED)]


def assert_started(logs: dict[str, Path]) -> None:
    assert "Running as primary controller" in logs["slurmctld"].read_text()
    assert [line for log in logs.values() for line in complaints(log)] == []


@pytest.mark.parametrize(("release", "example"), CASES)
def test_controller_and_database_start_with_every_example(release: str, example: str, tmp_path: Path) -> None:
    handoff = examples.handoff(example, release)
    with stage(carrying(release), handoff, tmp_path) as made:
        place(made, render(handoff))
        assert_started(start_controller(made, handoff))
        nodes = made.run("sinfo", "--noheader", "--Node", "--format=%N").split()
        assert set(nodes) == {node.name for node in handoff.with_role("compute")}


def await_words(made: Stage, words: str, *command: str, seconds: float = 600) -> None:
    until = time.monotonic() + seconds
    while words not in (said := made.run(*command)):
        assert time.monotonic() < until, said
        time.sleep(0.2)


def playing(release: str) -> Handoff:
    """A cluster whose nodes play a larger machine on this one, as the lab's do."""
    facts = cgroup_facts()
    cgroup = {"plugin": facts.plugin, "mountpoint": facts.mountpoint}
    made = sample.handoff(release, cgroup=cgroup, config_overrides=True, rest=True)
    source = "repository" if release == "26.05" else "distribution"
    return replace(made, software={**made.software, "slurm_source": source})


@pytest.fixture
def running(release: str, tmp_path: Path) -> Iterator[tuple[Stage, dict[str, Path]]]:
    """A controller, and one node that has its configuration from it."""
    skip_without_cgroup_v1()
    handoff = playing(release)
    with stage(carrying(release), handoff, tmp_path, sample.H100) as made:
        place(made, render(handoff))
        logs = start_controller(made, handoff)
        assert_started(logs)
        logs["slurmd"] = start_node(made, "gpu-001")
        yield made, logs


def test_a_node_registers_and_gives_each_job_its_gpus_only(
    running: tuple[Stage, dict[str, Path]],
) -> None:
    made, logs = running
    await_words(made, "idle gpu:h100:8", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t %G")
    assert_started(logs)
    tries = "for gpu in 0 1 2 7; do head -c0 /dev/nvidia$gpu; done 2>&1; hostname"
    seen = made.run("srun", "-w", "gpu-001", "--gres=gpu:2", "sh", "-c", tries)
    assert re.findall(r"/dev/nvidia(\d)'.*: (No such device or address|Operation not permitted)", seen) == [
        ("0", "No such device or address"),  # reached the device, which no driver serves
        ("1", "No such device or address"),
        ("2", "Operation not permitted"),
        ("7", "Operation not permitted"),
    ]
    share = int(sample.H100.memory_mib * 0.95) // 8
    await_words(made, f"cpu=48,gres/gpu=2,mem={2 * share}M,node=1", "sacct", "-nXP", "-o", "AllocTRES")


@pytest.mark.parametrize("release", ["22.05", "24.11"])
def test_a_gpu_that_is_shared_is_given_to_nobody_whole(release: str, tmp_path: Path) -> None:
    skip_without_cgroup_v1()
    made = playing(release)
    handoff = replace(made, scheduler={**made.scheduler, "shards": {"gpu": 4}})
    with stage(carrying(release), handoff, tmp_path, sample.H100) as cluster:
        place(cluster, render(handoff))
        logs = start_controller(cluster, handoff)
        logs["slurmd"] = start_node(cluster, "gpu-001")
        await_words(cluster, "idle", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
        assert_started(logs)
        tries = "--wrap=for gpu in $(seq 0 7); do head -c0 /dev/nvidia$gpu; done 2>&1; echo tried; sleep 600"
        opened = list[list[str]]()
        for job, gres in enumerate(("shard:1", "gpu:1"), 1):
            begun = cluster.run("sbatch", "-w", "gpu-001", f"--gres={gres}", f"-o/run/said-{job}", tries)
            assert "Submitted" in begun, begun
            await_words(cluster, "tried", "cat", f"/run/said-{job}")
            said = cluster.run("cat", f"/run/said-{job}")
            opened.append(re.findall(r"nvidia(\d)'.*: No such device or address", said))
        assert [len(found) for found in opened] == [1, 1] and opened[0] != opened[1]
        await_words(cluster, "gres/shard=1", "sacct", "-nXP", "-j1", "-o", "AllocTRES")


@pytest.mark.parametrize("release", ["24.11"])
def test_a_name_goes_to_another_machine_with_another_address(
    running: tuple[Stage, dict[str, Path]], release: str
) -> None:
    """As a group's member that is gone: the next machine with its name is told by the configuration alone."""
    made, _logs = running
    await_words(made, "idle", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
    made.run("sh", "-c", "pkill -x slurmd; while pgrep -x slurmd; do sleep 0.1; done")
    assert "10.66.0.10" in made.run("scontrol", "show", "node", "gpu-001")
    made.run("ip", "address", "del", "10.66.0.10/32", "dev", "lo")
    made.run("ip", "address", "add", "10.66.0.99/32", "dev", "lo")
    place_files(made, render(playing(release).at({"gpu-001": "10.66.0.99"})))
    made.run("scontrol", "reconfigure")
    start_node(made, "gpu-001")
    await_words(made, "NodeAddr=10.66.0.99", "scontrol", "show", "node", "gpu-001")
    await_words(made, "idle", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
    assert "gpu-001" in made.run("srun", "-w", "gpu-001", "hostname")


@pytest.mark.parametrize(("release", "count"), [("22.05", 2_000), ("24.11", 10_000), ("26.05", 2_000)])
def test_a_large_cluster_loads(
    release: str, count: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    handoff = sample.handoff(release, count=count)
    with stage(carrying(release), handoff, tmp_path) as made:
        place(made, render(handoff))
        started = time.monotonic()
        assert_started(start_controller(made, handoff))
        seconds, memory = time.monotonic() - started, made.memory_mib("slurmctld")
        assert len(made.run("sinfo", "-hN", "-o", "%N").split()) == count
    record_property("seconds", seconds)
    record_property("memory_mib", memory)
    assert memory < 200


def test_prometheus_takes_configuration_and_rules(release: str, tmp_path: Path) -> None:
    handoff = sample.handoff(release)
    with stage(carrying(release), handoff, tmp_path) as made:
        place(made, render(handoff))
        said = made.run("promtool", "check", "config", "/etc/prometheus/prometheus.yml")
    assert "9 rules found" in said
    assert "FAILED" not in said


def test_the_programs_that_slurm_runs_on_a_node(tmp_path: Path) -> None:
    handoff = sample.handoff("24.11")
    with stage(carrying("24.11"), handoff, tmp_path) as made:
        place(made, render(handoff))
        gate = made.root / "usr/lib/clusterwright/gate"
        gate.write_text('#!/bin/sh\necho "$@"\nexit 3\n')

        def tried(script: str, **environment: str) -> str:
            settings = [f"{key}={value}" for key, value in environment.items()]
            return made.run("env", *settings, "sh", "-c", f'{script}; echo "exit $?"')

        prolog, epilog = "/node/etc/slurm/prolog", "/node/etc/slurm/epilog"
        assert tried(prolog, SLURM_JOB_UID="2001") == "exit 0\n"
        assert tried(prolog, SLURM_JOB_UID="2001", SLURM_JOB_GPUS="0,1") == "--quick\nexit 3\n"
        assert tried("/node/usr/lib/clusterwright/health-check") == "--quick\nexit 3\n"

        leave = "touch /dev/shm/root-left; setpriv --reuid 2001 --clear-groups touch /dev/shm/job-left"
        at_work = (
            "setpriv --reuid 2001 --clear-groups sleep 60 & "
            "until [ $(stat -c %u /proc/$!) = 2001 ]; do sleep 0.05; done"
        )
        end_it = "{ kill $!; wait $!; } 2> /dev/null; true"
        kept = tried(f"{leave}; {at_work}; {epilog}; ls /dev/shm; {end_it}", SLURM_JOB_UID="2001")
        assert kept.split() == ["job-left", "root-left", "exit", "0"]
        cleared = tried(f"{leave}; {epilog}; ls /dev/shm", SLURM_JOB_UID="2001")
        assert cleared.split() == ["root-left", "exit", "0"]
        assert "root-left" in tried(f"{epilog}; ls /dev/shm", SLURM_JOB_UID="0")
