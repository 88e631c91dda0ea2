"""Verify over an `ssh` that runs the command on this machine instead of another."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from clusterwright.bundle.wanted import Kind, Wanted, WantedFile, WantedUser
from clusterwright.converge.target import Target
from clusterwright.converge.verify import verify

SSH = """#!/bin/sh
for last; do :; done
case "$*" in
*@gone\\ *) echo "ssh: connect to host gone port 22: No route to host" >&2; exit 255 ;;
*@slow\\ *) exec sleep 600 ;;
*) exec sh -c "$last" ;;
esac
"""


@pytest.fixture(autouse=True)
def local_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ssh = tmp_path / "bin" / "ssh"
    ssh.parent.mkdir()
    ssh.write_text(SSH)
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{ssh.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))


def target(name: str) -> Target:
    return Target(name, name, 22, "root", Path("/key"), Path("/known_hosts"))


def wanted(name: str, *files: WantedFile) -> Wanted:
    nobody = WantedUser("nobody-like-this", 7, "/", "/bin/sh")
    return Wanted(name, Kind(("base",), files, (), (), (), (), "deb", (nobody,), None, "r1"))


def test_a_node_names_everything_that_differs(tmp_path: Path) -> None:
    path = tmp_path / "slurm.conf"
    path.write_text("two\n")
    path.chmod(0o644)
    digest = hashlib.sha256(b"one\n").hexdigest()
    file = WantedFile(str(path), 0o644, path.owner(), path.group(), digest, "one\n")
    found = verify([target("here")], {"here": wanted("here", file)})["here"]
    assert found.drift == (f"{path}: content", "user nobody-like-this: missing")
    assert (found.ok, found.applied, found.unreachable) == (False, False, "")


def test_a_node_that_does_not_answer_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.run

    def run(argv: list[str], *, timeout: float, **more: Any) -> Any:
        """Who is not slow may take its time: this machine is busy with tests."""
        assert timeout == 3
        return real(argv, timeout=0.2 if "root@slow" in argv else None, **more)

    monkeypatch.setattr(subprocess, "run", run)
    names = ["gone", "here", "slow"]
    found = verify([target(name) for name in names], {name: wanted(name) for name in names}, timeout=3)
    assert found["gone"].unreachable == "ssh: connect to host gone port 22: No route to host"
    assert found["slow"].unreachable == "no answer within 3 s"
    assert found["here"].drift == ("user nobody-like-this: missing",)


def test_connections_are_pinned_multiplexed_and_never_ask() -> None:
    argv = target("here").ssh_argv()
    for setting in ("BatchMode=yes", "StrictHostKeyChecking=yes", "ControlMaster=auto"):
        assert setting in argv
    assert argv[-1] == "root@here"


def test_control_sockets_are_private(tmp_path: Path) -> None:
    target("here").ssh_argv()
    assert (tmp_path / "run" / "clusterwright" / "ssh").stat().st_mode & 0o077 == 0
