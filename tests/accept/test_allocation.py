"""The program that starts steps in an allocation, with a stand-in for salloc."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clusterwright.accept.session import Ran, program

GRANTED = 'echo "salloc: Granted job allocation 7" >&2\n'
HELD = f"{GRANTED}cat\ntouch ended\n"
REFUSED = f'{GRANTED}sleep 0.1\necho "salloc: error: Something is wrong with the boot of the nodes." >&2\n'
TAKEN = 'echo "salloc: error: Unable to allocate resources: Connection timed out" >&2\nexit 1\n'
Begin = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    def run(salloc: str, *command: str) -> subprocess.Popen[str]:
        script = tmp_path / "salloc"
        script.write_text(f"#!/bin/sh\n{salloc}")
        script.chmod(0o755)
        asked = json.dumps({"options": ["--nodes=1"], "command": command})
        argv = [sys.executable, "-c", program("allocation"), asked]
        environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        pipe = subprocess.PIPE
        return subprocess.Popen(
            argv, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )

    return run


def said(process: subprocess.Popen[str]) -> Ran:
    output, error = process.communicate(timeout=300)
    return Ran(process.returncode, output, error, 0.0)


def test_steps_are_the_allocations_and_it_ends_after_them(begin: Begin, tmp_path: Path) -> None:
    ran = said(begin(HELD, "sh", "-c", "echo job $SLURM_JOB_ID; ls ended; echo its fan >&2; exit 3"))
    assert (ran.code, ran.output) == (3, "job 7\n")
    assert ran.complaint == "its fan"
    assert (tmp_path / "ended").exists()


def test_what_a_prolog_refused_is_said_by_the_allocation(begin: Begin) -> None:
    ran = said(begin(REFUSED, "sh", "-c", "echo Job step aborted >&2; exit 1"))
    assert ran.complaint == "salloc: error: Something is wrong with the boot of the nodes."


def test_without_nodes_nothing_begins(begin: Begin) -> None:
    ran = said(begin(TAKEN, "echo", "begun"))
    assert (ran.code, ran.output, ran.taken) == (1, "", True)


def test_nodes_are_not_held_by_what_was_killed(begin: Begin, tmp_path: Path) -> None:
    process = begin(HELD, "sh", "-c", "echo begun; exec sleep 600 > /dev/null 2>&1")
    assert process.stdout
    assert process.stdout.readline() == "begun\n"
    process.kill()
    until = time.monotonic() + 120
    while not (tmp_path / "ended").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)  # what it had begun goes on
    process.communicate()
