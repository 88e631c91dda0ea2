"""What a node answers when it is asked, one alteration at a time."""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import shutil
import time
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


def person(**changes: object) -> dict[str, Any]:
    seen = pwd.getpwuid(os.getuid())
    login = {"name": seen.pw_name, "uid": seen.pw_uid, "home": seen.pw_dir, "shell": seen.pw_shell}
    return {**login, "groups": [], **changes}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, []),
        ({"name": "nobody-like-this"}, ["user nobody-like-this: missing"]),
        ({"shell": "/bin/none"}, [f"user {OWNER}: shell {person()['shell']} should be /bin/none"]),
        ({"home": "/none"}, [f"user {OWNER}: home {person()['home']} should be /none"]),
        ({"groups": ["clusterwright-none"]}, [f"group clusterwright-none: {OWNER} is not in it"]),
    ],
)
def test_users_are_compared(change: dict[str, Any], said: list[str]) -> None:
    assert look.drift_of_users([person(**change)]) == said


def test_strangers_in_our_groups_are_named_and_in_others_left(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("clusterwright-admin", ["ada", "eve"]), ("sudo", ["eve"])]
    monkeypatch.setattr(
        grp, "getgrall", lambda: [grp.struct_group((name, "x", 9, who)) for name, who in rows]
    )
    wanted = [person(name="ada", groups=["clusterwright-admin"])]
    assert look.drift_of_groups(wanted, set()) == ["group clusterwright-admin: eve should not be in it"]
    assert look.drift_of_groups(wanted, {"eve"}) == []


def test_packages_are_named_that_are_missing_or_in_another_version_than_the_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = tmp_path / "dpkg-query"
    lines = [
        "slurmd 24.11 ii ",
        "rsync  un ",
        "munge 0.5 rc ",
        "held 1 hi ",
        "libnccl2 2.28-1 ii ",
        "cuda 13 ii ",
        "driver 595.91-1 ii ",
    ]
    query.write_text("\n".join(["#!/bin/sh", *(f"echo '{line}'" for line in lines), "exit 1", ""]))
    query.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    names = [
        "slurmd",
        "rsync",
        "munge",
        "held",
        "unheard-of",
        "libnccl2=2.29-1",
        "cuda=13",
        "driver=595.58-1",
    ]
    differing = look.differing_packages(names, look.Debs())
    assert look.drift_of_packages(names, differing) == [
        "package rsync: not installed",
        "package munge: not installed",
        "package unheard-of: not installed",
        "package libnccl2: 2.28-1 should be 2.29-1",
        "package driver: 595.91-1 should be 595.58-1",
    ]
    assert look.newer_packages(names, differing, look.Debs()) == ["driver"]


def test_a_locked_package_that_an_upgrade_may_move_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = tmp_path / "dpkg-query"
    query.write_text("#!/bin/sh\necho 'driver hold'\necho 'libnccl2 install'\n")
    query.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert look.loose_packages(["driver", "libnccl2", "gone"], {"gone": ""}, look.Debs()) == ["libnccl2"]


def test_locked_packages_are_told_that_came_after_the_boot(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"driver": time.time(), "libnccl2": 0.0, "rsync": time.time()}
    monkeypatch.setattr(look.Debs, "unpacked", lambda _, name: times[name])
    assert look.installed_since_boot(["driver=595.58-1", "libnccl2=2.29-1", "rsync"], look.Debs()) == [
        "driver"
    ]


def test_rpms_are_compared_by_version_and_by_epoch_where_a_lock_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = tmp_path / "rpm"
    lines = [
        "slurm-slurmd 0 25.11.2-1.el9",
        "package rsync is not installed",
        "nvidia-driver-cuda 3 580.95.05-1.el9",
        "libnccl 0 2.28.9-1+cuda13.0",
        "dcgm 1 4.4.2-1",
        "kernel 0 5.14.0-570.el9",
        "kernel 0 5.14.0-611.el9",
    ]
    query.write_text("\n".join(["#!/bin/sh", *(f"echo '{line}'" for line in lines), "exit 1", ""]))
    query.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    driver = "nvidia-driver-cuda=3:580.95.05-1.el9"
    names = ["slurm-slurmd", "rsync", driver, "libnccl=2.29.1-1", "dcgm=4.4.2-1", "kernel=5.14.0-570.el9"]
    differing = look.differing_packages(names, look.Rpms())
    assert look.drift_of_packages(names, differing) == [
        "package rsync: not installed",
        "package libnccl: 2.28.9-1+cuda13.0 should be 2.29.1-1",
    ]
    assert look.differing_packages(["dcgm=3:4.4.2-1"], look.Rpms()) == {"dcgm": "1:4.4.2-1"}


@pytest.mark.skipif(not shutil.which("rpm"), reason="needs rpm")
def test_rpm_itself_says_which_version_is_newer() -> None:
    wanted = ["driver=3:580.95.05-1.el9", "nccl=2.29-1"]
    differing = {"driver": "3:580.167.08-1.el9", "nccl": "2.28-1"}
    assert look.newer_packages(wanted, differing, look.Rpms()) == ["driver"]


def test_what_the_site_keeps_is_told_apart_and_is_no_drift(file: Path) -> None:
    nothing: dict[str, Any] = {"files": [], "directories": [], "units": [], "packages": [], "users": []}
    asked = {**nothing, "held": [], "package_format": "deb"}
    observed = {**asked, "files": [row(file, "two\n")], "packages": ["no-such-package=1.0"]}
    seen = look.look({**asked, "observed": observed})
    assert seen["observed"] == [f"{file}: content", "package no-such-package: not installed"]
    assert seen["drift"] == [] and seen["packages"] == {}
    assert look.look(asked)["observed"] == []
