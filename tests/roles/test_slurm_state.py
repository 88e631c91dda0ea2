"""What runs before slurmctld where controllers share its state, on folders that play their disks."""

from __future__ import annotations

import json
import os
import pwd
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "roles/slurm_controller/files/slurm-state"
STATE = {"clustername": "small\n", "job_state": "two jobs", "hash.1/job.1/script": "#!/bin/sh\n"}
ME = socket.gethostname().partition(".")[0]


class Machine:
    """A controller, and the share that it has in common with another one."""

    def __init__(self, root: Path) -> None:
        self.root, self.disk, self.folder = root, root / "spool/slurmctld", root / "share/slurm/small"
        self.record, self.file = root / "record.json", root / "config.json"
        self.disk.mkdir(parents=True)
        (root / "share").mkdir()
        self.configure()

    def configure(self, **changes: Any) -> None:
        config = {
            "folder": str(self.folder), "mount": None, "controllers": [ME, "other"],
            "own_disk": str(self.disk), "owner": pwd.getpwuid(os.getuid()).pw_name,
            "record": str(self.record), "patience": 0,
        }  # fmt: skip
        self.file.write_text(json.dumps({**config, **changes}))

    def starts(self, refused: str = "") -> str:
        """What it says; slurmctld would start, or must not for this reason."""
        done = subprocess.run(
            [sys.executable, PROGRAM, self.file], capture_output=True, text=True, check=False
        )
        assert done.returncode == bool(refused), done.stderr
        assert refused in done.stderr
        return done.stdout

    def writes(self, folder: Path, **changes: str) -> None:
        """slurmctld has run with this folder."""
        for name, text in {**STATE, **changes}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


def read(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_first_one_begins_with_an_empty_folder_and_the_others_wait_for_it(machine: Machine) -> None:
    machine.configure(controllers=["other", ME])
    machine.starts(refused="has no state yet: other, the first controller, has not begun there")
    machine.configure()
    machine.starts()
    assert list(machine.folder.iterdir()) == []
    assert machine.folder.stat().st_mode & 0o777 == 0o700
    machine.configure(controllers=["other", ME])
    machine.starts(refused="has not begun")  # an empty queue is not for it to begin with
    machine.writes(machine.folder)
    machine.starts()


def test_what_its_own_disk_had_comes_along(machine: Machine) -> None:
    machine.writes(machine.disk)
    assert "the state was moved" in machine.starts()
    assert read(machine.folder) == STATE
    assert read(machine.disk) == {}  # it would be out of date, and must never be started with
    assert machine.starts() == ""


@pytest.mark.parametrize("step", ["rmtree", "copytree", "rename", "remember"])
def test_a_move_that_was_killed_goes_on(machine: Machine, step: str) -> None:
    """At the end of each of its steps."""
    machine.writes(machine.disk)
    killed = f"""
import os, pathlib, runpy, shutil, sys
def dies(owner, name):
    real = getattr(owner, name)
    def then(*given, **more):
        real(*given, **more)
        os._exit(9)
    setattr(owner, name, then)
dies({{"rmtree": shutil, "copytree": shutil, "rename": pathlib.Path, "remember": pathlib.Path}}[{step!r}],
     {{"remember": "replace"}}.get({step!r}, {step!r}))
sys.argv = [{str(PROGRAM)!r}, {str(machine.file)!r}]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
    assert subprocess.run([sys.executable, "-c", killed], check=False).returncode == 9
    machine.starts()
    assert read(machine.folder) == STATE
    assert read(machine.disk) == {}


def test_two_states_are_for_a_person_to_decide(machine: Machine) -> None:
    machine.writes(machine.disk)
    machine.writes(machine.folder, job_state="others")
    machine.starts(refused="both")
    assert read(machine.disk) == STATE


def test_a_share_that_lost_its_content_is_not_begun_anew(machine: Machine) -> None:
    machine.starts()
    machine.writes(machine.folder)
    machine.starts()
    subprocess.run(["rm", "-r", machine.folder], check=True)
    machine.starts(refused="had the state of this cluster, and has none now")
    assert not machine.folder.exists()
    machine.record.unlink()
    machine.starts()


def test_another_folder_takes_over_from_the_one_before(machine: Machine) -> None:
    machine.starts()
    machine.writes(machine.folder)
    machine.starts()
    machine.configure(folder=str(machine.root / "share/new/small"))
    assert "was moved" in machine.starts()
    assert read(machine.root / "share/new/small") == STATE


def test_nothing_starts_without_the_mount(machine: Machine) -> None:
    machine.writes(machine.folder)
    machine.configure(mount=str(machine.root / "share"))
    machine.starts(refused="is not mounted")
    machine.configure(mount="/proc")
    machine.starts()


def test_nothing_starts_in_the_middle_of_a_restore(machine: Machine) -> None:
    machine.writes(machine.folder)
    (machine.folder.parent / "small.restoring").touch()
    for controllers in ([ME, "other"], ["other", ME]):
        machine.configure(controllers=controllers)
        machine.starts(refused="a backup is being restored")
