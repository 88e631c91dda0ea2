"""Jobs of real Slurm share a GPU through NVIDIA's MPS, which is simulated, by the programs that nodes get."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clusterwright.handoff import Handoff
from clusterwright.providers.lab import simulators
from clusterwright.providers.lab.vendor.package import launcher
from clusterwright.render import render

from . import sample
from .daemons import Stage, place, skip_without_cgroup_v1, stage, start_controller, start_node
from .test_daemons import assert_started, await_words, carrying, playing

pytestmark = pytest.mark.slurm

ROLE = Path(__file__).parents[2] / "roles/slurm_gpu/files"
ONE_GPU = replace(sample.H100, gpus=sample.H100.gpus[:1])
USERS = {"ada": 2001, "bob": 2002}
_PYTHON = '#!/bin/sh\nLD_LIBRARY_PATH=/opt/python/lib exec /opt/python/bin/python3 "$@"\n'
_JOB = """#!/bin/sh
echo "$CUDA_MPS_ACTIVE_THREAD_PERCENTAGE percent by $CUDA_MPS_PIPE_DIRECTORY"
echo get_default_active_thread_percentage | nvidia-cuda-mps-control && echo answered
sleep 600
"""


@pytest.fixture(params=["22.05", "24.11"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A controller and a node with one GPU, half of which is `mps:50`."""
    skip_without_cgroup_v1()
    handoff = one_gpu(request.param)
    with stage(carrying(request.param), handoff, tmp_path, ONE_GPU) as made:
        lend_python(made, tmp_path / "merged")
        place(made, render(handoff))
        install(made, tmp_path / "hardware")
        logs = start_controller(made, handoff)
        made.run("sacctmgr", "-i", "add", "account", "lab")
        for name in USERS:
            made.run("sacctmgr", "-i", "add", "user", name, "account=lab")
        logs["slurmd"] = start_node(made, "gpu-001")
        await_words(made, "idle", "sinfo", "-hN", "-n", "gpu-001", "-o", "%t")
        assert_started(logs)
        yield made


def one_gpu(release: str) -> Handoff:
    made = playing(release)
    nodes = tuple(replace(node, gpus=1) if node.gpus else node for node in made.nodes)
    hardware = {**made.hardware, "h100": ONE_GPU}
    return replace(made, nodes=nodes, hardware=hardware, scheduler={**made.scheduler, "mps": {"gpu": 100}})


def lend_python(made: Stage, root: Path) -> None:
    """This interpreter, for simulators: a stage has none of its own."""
    (made.root / "opt/python").mkdir()
    mount = ("mount", "--bind", sys.base_prefix, str(root / "opt/python"))
    subprocess.run([*made.inside(())[:3], "-m", *mount], check=True)


def install(made: Stage, hardware: Path) -> None:
    """What the role slurm_gpu and the driver's simulated package bring."""
    with (made.root / "etc/passwd").open("a") as users:
        users.writelines(f"{name}:x:{uid}:100::/:/bin/sh\n" for name, uid in USERS.items())
    programs = {"usr/bin/python3": _PYTHON, "usr/bin/job": _JOB}
    programs["usr/lib/clusterwright/gpu-mps"] = (ROLE / "gpu-mps").read_text()
    programs["usr/bin/nvidia-cuda-mps-control"] = launcher("nvidia-cuda-mps-control", "580.95.05")
    for path, text in programs.items():
        (made.root / path).write_text(text)
        (made.root / path).chmod(0o755)
    package = made.root / "usr/lib/simulated-hardware/simulators"
    shutil.copytree(Path(simulators.__file__).parent, package)
    (made.root / "run/simulated-hardware").mkdir()
    shutil.copy2(hardware / "hardware.json", made.root / "run/simulated-hardware")


def submit(cluster: Stage, user: str, *gres: str) -> str:
    """The number of a job that says what it sees of MPS, and waits."""
    as_user = ("setpriv", f"--reuid={USERS[user]}", "--regid=100", "--clear-groups")
    given = ("sbatch", "--parsable", "-wgpu-001", "-n1", "--mem=100", "-o/tmp/said-%j", *gres, "/usr/bin/job")
    job = cluster.run(*as_user, *given).strip()
    assert job.isdecimal(), job
    return job


def said(cluster: Stage, job: str) -> str:
    await_words(cluster, "answered", "cat", f"/tmp/said-{job}")
    return cluster.run("cat", f"/tmp/said-{job}")


def daemons(cluster: Stage) -> list[tuple[str, str]]:
    """User and folder of each process of MPS that lives."""
    listed = "grep -lsx nvidia-cuda-mps /proc/[0-9]*/comm | while read -r each; do each=${each%/comm}; "
    listed += 'stat -c %u "$each"; tr "\\0" "\\n" < "$each/environ" | grep PIPE; done'
    return re.findall(r"(\d+)\nCUDA_MPS_PIPE_DIRECTORY=(\S+)", cluster.run("sh", "-c", listed))


def cancel(cluster: Stage, job: str) -> None:
    cluster.run("scancel", job)
    gone = 'while squeue -h -j "$0" -t all -o %T 2>&1 | grep -qE "COMPLETING|RUNNING"; do sleep 0.1; done'
    cluster.run("sh", "-c", gone, job)


def test_jobs_share_a_gpu_in_the_parts_that_they_asked_for(cluster: Stage) -> None:
    ada = "/run/clusterwright-mps/2001-0/pipe"
    first, second = submit(cluster, "ada", "--gres=mps:50"), submit(cluster, "ada", "--gres=mps:25")
    assert said(cluster, first).splitlines() == [f"50 percent by {ada}", "100.0", "answered"]
    assert said(cluster, second).splitlines()[0] == f"25 percent by {ada}"
    assert daemons(cluster) == [("2001", ada)]

    waits = submit(cluster, "bob", "--gres=mps:50")
    await_words(cluster, "PENDING Resources", "squeue", "-h", "-j", waits, "-o", "%T %r")
    cancel(cluster, first)
    bob = "/run/clusterwright-mps/2002-0/pipe"
    assert said(cluster, waits).splitlines()[0] == f"50 percent by {bob}"
    assert sorted(daemons(cluster)) == [("2001", ada), ("2002", bob)]

    cluster.run("sh", "-c", "kill -KILL $(cat /run/clusterwright-mps/2001-0/pipe/*.pid)")
    after_crash = submit(cluster, "ada", "--gres=mps:25")
    assert "answered" in said(cluster, after_crash)

    whole = submit(cluster, "ada", "--gres=gpu:1")
    await_words(cluster, "PENDING Resources", "squeue", "-h", "-j", whole, "-o", "%T %r")
    for job in (second, waits, after_crash):
        assert len(daemons(cluster)) >= 1
        cancel(cluster, job)
    await_words(cluster, "RUNNING", "squeue", "-h", "-j", whole, "-o", "%T")
    assert daemons(cluster) == []
    assert cluster.run("ls", "/run/clusterwright-mps").split() == ["jobs", "lock"]
    await_words(cluster, "gres/mps=25", "sacct", "-nXP", f"-j{second}", "-o", "AllocTRES")
