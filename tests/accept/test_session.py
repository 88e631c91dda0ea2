"""The one connection to a node, over a stand-in for ssh that runs the remote command here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clusterwright.accept.session import NoAnswer, Ran, Session
from clusterwright.converge.target import Target


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    stand_in(tmp_path, 'for last; do :; done\nexec sh -c "$last"')
    return Target("gpu-001", "10.0.0.4", 22, "root", tmp_path / "key", tmp_path / "known_hosts")


def stand_in(folder: Path, text: str) -> None:
    (folder / "ssh").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "ssh").chmod(0o755)


def test_one_session_answers_many_questions(target: Target) -> None:
    with Session(target) as session:
        ran = session.run("sh", "-c", "cat; echo oh >&2; exit 3", stdin="ah")
        assert (ran.code, ran.output, ran.error, ran.complaint) == (3, "ah", "oh\n", "oh")
        assert session.run("printf", "%s", "ä\n{").output == "ä\n{"
        clock = session.clock()
        assert abs(clock.offset) <= clock.round_trip


def test_a_program_that_hangs_or_is_not_there_is_an_answer(target: Target) -> None:
    with Session(target) as session:
        assert session.run("sleep", "600", timeout=0.3).code == 124
        assert session.run("no-such-program").code == 127
        assert "name not found" in session.run("true", user="no-such-user").error
        assert session.run("true").code == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_a_program_can_run_as_another_user(target: Target) -> None:
    with Session(target) as session:
        ran = session.run("sh", "-c", "id -u; echo $HOME $EXTRA", user="daemon", env={"EXTRA": "1"})
        assert ran.output == "1\n/usr/sbin 1\n"


def test_a_node_that_refuses_says_why(target: Target, tmp_path: Path) -> None:
    stand_in(tmp_path, "echo 'ssh: connect to host 10.0.0.4 port 22: No route to host' >&2; exit 255")
    with pytest.raises(NoAnswer, match="No route to host"), Session(target) as session:
        session.run("true")


@pytest.mark.usefixtures("target")
def test_another_user_elevates(tmp_path: Path) -> None:
    stand_in(tmp_path, 'for last; do :; done\necho "$last" >&2; exit 1')
    admin = Target("gpu-001", "10.0.0.4", 22, "admin", tmp_path / "key", tmp_path / "known_hosts")
    with pytest.raises(NoAnswer, match=r"^sudo -n sh -c 'python3 "), Session(admin) as session:
        session.run("true")


def test_complaint_names_the_task_that_ended_the_step() -> None:
    said = """\
srun: Job step aborted: Waiting up to 32 seconds for job step to finish.
srun: error: gpu-002: task 1: Segmentation fault (core dumped)
slurmstepd: error: *** STEP 42.0 ON gpu-001 CANCELLED AT 2026-11-22T02:43:21 ***
srun: error: gpu-001: task 0: Exited with exit code 14
"""
    killed = "srun: error: gpu-002: task 1: Segmentation fault (core dumped)"
    assert Ran(14, "", said, 1.0).complaint == killed
    assert Ran(14, said, "", 1.0).complaint == killed
    assert Ran(1, "", said.splitlines()[-1], 1.0).complaint.endswith("Exited with exit code 14")
