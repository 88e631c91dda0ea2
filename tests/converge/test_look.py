"""What a node answers when it is asked, one alteration at a time."""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clusterwright.converge import look

OWNER, GROUP = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name
Harm = Callable[[Path], object]


def row(path: Path, content: str, mode: int = 0o644) -> dict[str, Any]:
    digest = hashlib.sha256(content.encode()).hexdigest()
    return {"path": str(path), "mode": mode, "owner": OWNER, "group": GROUP, "sha256": digest}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "slurm.conf"
    path.write_text("one\n")
    path.chmod(0o644)
    return path


def test_a_file_as_wanted_says_nothing(file: Path) -> None:
    assert look.drift_of_files([row(file, "one\n")]) == []


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda path: path.write_text("two\n"), "content"),
        (lambda path: path.chmod(0o666), "mode 0666 should be 0644"),
        (Path.unlink, "missing"),
    ],
    ids=["content", "mode", "missing"],
)
def test_an_altered_file_is_named(file: Path, harm: Harm, said: str) -> None:
    harm(file)
    assert look.drift_of_files([row(file, "one\n")]) == [f"{file}: {said}"]


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to give a file away")
def test_another_owner_is_named(file: Path) -> None:
    os.chown(file, pwd.getpwnam("daemon").pw_uid, -1)
    assert look.drift_of_files([row(file, "one\n")]) == [f"{file}: owner daemon should be {OWNER}"]


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    gone = {"path": str(tmp_path / "gone"), "mode": 0o755, "owner": OWNER, "group": GROUP}
    assert look.drift_of_directories([gone]) == [f"{tmp_path}/gone: missing"]


ON = {"name": "slurmd", "active": True, "enabled": True}
OFF = {"name": "slurmd", "active": False, "enabled": False}
RUNS = {"ActiveState": "active", "UnitFileState": "enabled", "LoadState": "loaded"}


@pytest.mark.parametrize(
    ("wanted", "seen", "said"),
    [
        (ON, RUNS, []),
        (ON, {**RUNS, "ActiveState": "inactive"}, ["inactive"]),
        (ON, {**RUNS, "ActiveState": "failed", "UnitFileState": "disabled"}, ["failed", "disabled"]),
        (ON, {**RUNS, "ActiveState": "inactive", "LoadState": "not-found"}, ["not installed"]),
        (ON, {**RUNS, "UnitFileState": "static"}, []),
        (OFF, RUNS, ["runs and should not", "enabled and should not be"]),
        (OFF, {"ActiveState": "inactive", "UnitFileState": "", "LoadState": "not-found"}, []),
    ],
)
def test_units(wanted: dict[str, Any], seen: dict[str, str], said: list[str]) -> None:
    assert look.drift_of(wanted, seen) == said


def test_users_are_named() -> None:
    wanted = [{"name": OWNER, "uid": os.getuid()}, {"name": "nobody-like-this", "uid": 7}]
    assert look.drift_of_users(wanted) == ["user nobody-like-this: missing"]
    assert look.drift_of_users([{"name": OWNER, "uid": 4242}]) == [
        f"user {OWNER}: uid {os.getuid()} should be 4242"
    ]


def test_packages_that_are_not_there_or_of_another_version_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "slurmd 24.11 ii |rsync  un |munge 0.5 rc |held 1 hi |nccl 2.30-1 ii |driver 1:595-1 hi |"
    query = tmp_path / "dpkg-query"
    query.write_text(f"#!/bin/sh\nprintf '{rows}' | tr '|' '\\n'\nexit 1\n")
    query.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    names = ["slurmd", "rsync", "munge", "held", "unheard-of", "nccl=2.31-1", "driver=1:595-1"]
    assert look.packages_missing(names) == ["rsync", "munge", "unheard-of", "nccl=2.31-1"]
