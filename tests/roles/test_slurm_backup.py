"""The controller's program for backups, as it is, beside a Slurm and a MariaDB that are played."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "roles/slurm_backup/files/state-backup"
DATA = "INSERT INTO jobs VALUES (1), (2);\n"
STATE = {
    "clustername": "small\n",
    "job_state": "two jobs",
    "node_state": "one node",
    "hash.1/job.1/script": "#!/bin/sh\n",
    "hash.1/job.1/environment": "A=1",
}
STATIONS = {
    "slurmctld": 'echo "slurm-wlm $(cat "$ROOT/release")"',
    "squeue": "printf 'PENDING\\nPENDING\\nRUNNING\\n'",
    "systemctl": "exit 0",
    "mariadb-dump": 'cat "$ROOT/database"',
    "mariadb": 'case "$1" in --execute) : > "$ROOT/database";; *) cat >> "$ROOT/database";; esac',
}


class Controller:
    """A folder that plays the controller's disk."""

    def __init__(self, root: Path) -> None:
        self.root, self.state = root, root / "state"
        self.saved, self.log = root / "share/backups/small", root / "log"
        self.hold, self.config_file = root / "hold.json", root / "backup.json"
        (root / "bin").mkdir()
        for name, script in STATIONS.items():
            self.plays(name, script)
        self.state.mkdir()
        self.configure()
        (root / "release").write_text("24.11.5")
        (root / "database").write_text(DATA)

    def plays(self, name: str, script: str) -> None:
        file = self.root / "bin" / name
        file.write_text(f'#!/bin/sh\necho "{name} $*" >> "$ROOT/log"\n{script}\n')
        file.chmod(0o755)

    def configure(self, **changes: Any) -> None:
        share, root, user = self.root / "share/backups", self.root, pwd.getpwuid(os.getuid()).pw_name
        config = {
            "cluster": "small", "folder": str(share), "mount": None, "every": 3600, "keep": 2,
            "accounting": True, "database": "slurm_acct_db", "state": str(self.state), "owner": user,
            "state_mount": None, "own_disk": str(self.root / "own-disk"), "shared": False,
            "record": str(self.root / "record.json"), "database_folder": str(self.root / "database"),
            "hold": str(self.hold), "begun": str(root / "begun"), "applied": str(root / "applied.json"),
            "patience": 0, "settle": 0, "lock": str(root / "lock"),
        }  # fmt: skip
        self.config_file.write_text(json.dumps({**config, **changes}))

    def works(self) -> None:
        """slurmctld has run here."""
        for name, text in STATE.items():
            (self.state / name).parent.mkdir(parents=True, exist_ok=True)
            (self.state / name).write_text(text)

    def made_anew(self) -> None:
        subprocess.run(["rm", "-r", self.state], check=True)
        self.state.mkdir()
        (self.root / "database").write_text("")

    @property
    def files(self) -> dict[str, str]:
        paths = (path for path in self.state.rglob("*") if path.is_file())
        return {str(path.relative_to(self.state)): path.read_text() for path in paths}

    @property
    def told(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def start(self, *words: str) -> subprocess.Popen[str]:
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        return subprocess.Popen(
            [sys.executable, PROGRAM, "--config", self.config_file, *words],
            env={**os.environ, "PATH": path, "ROOT": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, code: int = 0) -> str:
        """What it prints; where it is to fail, its complaint."""
        process = self.start(*words)
        output, errors = process.communicate(timeout=60)
        assert process.returncode == code, output + errors
        return errors if code else output

    def take(self) -> str:
        return str(json.loads(self.run("take"))["name"])

    def names(self) -> list[str]:
        return [row["name"] for row in json.loads(self.run("list"))["backups"]]

    def held(self) -> str:
        return str(json.loads(self.hold.read_text())["kind"]) if self.hold.exists() else ""


@pytest.fixture
def controller(tmp_path: Path) -> Controller:
    made = Controller(tmp_path)
    made.works()
    return made


def test_jobs_that_are_there_are_written_before_they_are_saved(controller: Controller) -> None:
    """slurmctld answers with a job some seconds before the job is in its files."""
    later = '(sleep 0.3; echo "three jobs" >"$ROOT/state/job_state") >/dev/null 2>&1 &'
    controller.plays("squeue", f"{later}\necho PENDING")
    controller.configure(settle=3)
    name = controller.take()
    controller.made_anew()
    controller.run("restore", name)
    assert controller.files["job_state"] == "three jobs\n"


def test_a_controller_made_anew_gets_everything_back_but_keys(controller: Controller) -> None:
    (controller.state / "jwt_hs256.key").write_text("secret")
    (controller.root / "applied.json").touch()
    name = controller.take()
    row = json.loads(controller.run("list"))["backups"][0]
    assert (row["cluster"], row["release"], row["jobs"]) == ("small", "24.11", {"pending": 2, "running": 1})
    controller.made_anew()
    controller.log.unlink()
    controller.run("restore", name)
    assert controller.files == STATE
    assert (controller.root / "database").read_text() == DATA
    assert [line for line in controller.told if line.startswith("systemctl")] == [
        "systemctl stop slurmctld.service",
        "systemctl stop slurmdbd.service",
        "systemctl start mariadb.service",
        "systemctl start slurmdbd.service",
        "systemctl start slurmctld.service",
        "systemctl start --no-block clusterwright-ends.service",
    ]
    assert not (controller.root / "applied.json").exists()


def test_nobody_else_may_read_a_backup(controller: Controller) -> None:
    controller.take()
    modes = {path.stat().st_mode & 0o077 for path in [controller.saved, *controller.saved.rglob("*")]}
    assert modes == {0}


def test_jobs_are_saved_before_the_database(controller: Controller) -> None:
    seen = 'ls "$ROOT"/share/backups/small/.*.partial > "$ROOT/seen"'
    controller.plays("mariadb-dump", seen)
    controller.take()
    assert "state.tar.gz" in (controller.root / "seen").read_text().split()


def test_killed_on_its_way_it_leaves_nothing_that_looks_whole(controller: Controller) -> None:
    begun = controller.root / "begun-to-dump"
    os.mkfifo(begun)
    controller.plays("mariadb-dump", f"echo half; echo > {begun}; exec sleep 600")
    process = controller.start("take")
    begun.read_text()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert [path.suffix for path in controller.saved.iterdir()] == [".partial"]
    assert controller.names() == []
    controller.plays("mariadb-dump", STATIONS["mariadb-dump"])
    name = controller.take()
    assert [path.name for path in controller.saved.iterdir()] == [name]


def test_a_database_that_cannot_be_dumped_is_no_backup(controller: Controller) -> None:
    controller.plays("mariadb-dump", "echo half; echo 'table is crashed' >&2; exit 2")
    assert "mariadb-dump: table is crashed" in controller.run("take", code=1)
    assert controller.names() == []


def test_the_newest_whole_ones_are_kept_and_damaged_ones_push_out_none(controller: Controller) -> None:
    first, second = controller.take(), controller.take()
    (controller.saved / second / "state.tar.gz").write_text("short")
    third = controller.take()
    assert controller.names() == [first, second, third]
    fourth = controller.take()
    assert controller.names() == [second, third, fourth]


def test_what_must_not_be_restored_is_refused_before_anything_stops(controller: Controller) -> None:
    name = controller.take()
    controller.log.unlink()
    (controller.root / "release").write_text("23.11.4")
    assert "of Slurm 24.11, which Slurm 23.11 cannot read" in controller.run("restore", name, code=1)
    (controller.root / "release").write_text("24.11.5")
    (controller.saved.parent / "other").symlink_to(controller.saved)
    controller.configure(cluster="other")
    assert "is of cluster small, and this is other" in controller.run("restore", name, code=1)
    controller.configure()
    assert "there is no backup" in controller.run("restore", "../small", code=1)
    archive = controller.saved / name / "state.tar.gz"
    content = bytearray(archive.read_bytes())
    content[40] ^= 1
    archive.write_bytes(content)
    assert "state.tar.gz is not what was written" in controller.run("restore", name, code=1)
    assert not [line for line in controller.told if line.startswith("systemctl")]
    assert controller.held() == ""


def test_what_is_there_now_is_saved_first_and_can_be_had_again(controller: Controller) -> None:
    name = controller.take()
    (controller.state / "job_state").write_text("three jobs")
    controller.run("restore", name)
    assert controller.files == STATE
    before = controller.names()[-1]
    assert before != name
    controller.run("restore", before, "--discard")
    assert controller.files["job_state"] == "three jobs"
    assert len(controller.names()) == 2


def test_an_interrupted_restore_keeps_slurmctld_out_until_it_is_done_again(controller: Controller) -> None:
    name = controller.take()
    controller.plays("mariadb", "echo 'no space left' >&2; exit 1")
    assert "no space left" in controller.run("restore", name, "--discard", code=1)
    controller.run("hold")
    assert controller.held() == "restoring"
    assert "is being restored" in controller.run("take", code=1)
    assert "is being restored" in controller.run("begin-empty", code=1)
    controller.plays("mariadb", STATIONS["mariadb"])
    controller.run("restore", name)
    assert (controller.files, controller.held()) == (STATE, "")


def test_slurmctld_does_not_start_on_an_empty_disk_while_there_is_a_backup(controller: Controller) -> None:
    controller.run("hold")
    assert controller.held() == ""
    name = controller.take()
    controller.made_anew()
    controller.run("hold")
    assert controller.held() == "waiting"
    assert f"backup {name} has" in json.loads(controller.run("list"))["why"]
    assert "is kept from starting" in controller.run("take", code=1)
    controller.run("restore", name)
    assert (controller.files, controller.held(), controller.names()) == (STATE, "", [name])


def test_a_new_cluster_starts_and_so_does_one_that_is_told_to_begin_empty(controller: Controller) -> None:
    controller.made_anew()
    controller.run("hold")
    assert controller.held() == ""
    assert "is not waiting" in controller.run("begin-empty", code=1)
    controller.works()
    controller.take()
    controller.made_anew()
    controller.run("hold")
    controller.run("begin-empty")
    controller.run("hold")
    assert controller.held() == ""


def test_a_share_that_is_away_is_no_reason_to_begin_empty(controller: Controller) -> None:
    controller.take()
    controller.configure(mount="/nowhere")
    assert "/nowhere is not mounted" in controller.run("take", code=1)
    told = json.loads(controller.run("list"))
    assert (told["late"], told["problem"]) == (True, "/nowhere is not mounted")
    controller.run("hold")
    assert controller.held() == ""
    controller.made_anew()
    assert "/nowhere is not mounted" in controller.run("hold", code=1)
    assert controller.held() == "looking"
    subprocess.run(["rm", "-r", controller.saved], check=True)
    controller.configure()
    controller.run("hold")
    assert controller.held() == ""
    assert controller.told[-1] == "systemctl start --no-block slurmctld.service"


def test_an_old_backup_is_late(controller: Controller) -> None:
    controller.take()
    assert json.loads(controller.run("list"))["late"] is False
    (old,) = controller.saved.iterdir()
    manifest = json.loads((old / "manifest.json").read_text())
    (old / "manifest.json").write_text(json.dumps({**manifest, "taken": "2026-01-01T00:00:00Z"}))
    os.utime(controller.config_file, (0, 0))
    assert json.loads(controller.run("list"))["late"] is True


@pytest.fixture
def shared(controller: Controller) -> Controller:
    """Its state lies on a share that another controller has too; the database is a folder of its own."""
    (controller.root / "mysql").mkdir()
    controller.configure(shared=True, database_folder=str(controller.root / "mysql"))
    return controller


def test_only_the_database_comes_back_where_another_controller_has_the_queue(shared: Controller) -> None:
    name = shared.take()
    (shared.state / "job_state").write_text("three jobs")
    (shared.root / "database").write_text("")
    (shared.root / "mysql").rmdir()
    shared.run("hold")
    assert (
        json.loads(shared.run("list"))["why"]
        == f"this disk has no accounting database, but backup {name} has"
    )
    shared.plays("mariadb", "echo 'no space left' >&2; exit 1")
    shared.run("restore", name, code=1)
    assert shared.held() == "restoring"
    shared.plays("mariadb", STATIONS["mariadb"])
    shared.run("restore", name)
    assert (shared.files["job_state"], shared.held()) == ("three jobs", "")
    assert (shared.root / "database").read_text() == DATA


def test_no_controller_starts_while_the_queue_is_exchanged(shared: Controller) -> None:
    name, fence = shared.take(), shared.state.with_name("state.restoring")
    shared.plays("mariadb", "echo 'no space left' >&2; exit 1")
    shared.run("restore", name, "--discard", code=1)
    assert fence.exists()
    shared.plays("mariadb", STATIONS["mariadb"])
    (shared.state / "job_state").write_text("half of it")
    shared.run("restore", name)
    assert shared.files == STATE
    assert not fence.exists()


def test_a_state_that_is_yet_to_be_moved_to_the_share_is_one(shared: Controller) -> None:
    shared.take()
    shared.state.rename(shared.root / "own-disk")
    shared.run("hold")
    assert shared.held() == ""
    subprocess.run(["rm", "-r", shared.root / "own-disk"], check=True)
    shared.run("hold")
    assert json.loads(shared.run("list"))["why"].startswith("the share has no state of Slurm's, but backup")


def test_a_share_that_is_not_mounted_tells_nothing_of_the_state(shared: Controller) -> None:
    shared.take()
    mounts = {"shared": True, "database_folder": str(shared.root / "mysql")}
    shared.configure(**mounts, state_mount="/nowhere")
    assert "/nowhere is not mounted" in shared.run("hold", code=1)
    assert shared.held() == "looking"
