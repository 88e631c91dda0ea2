"""A user's machine with state of its own and the shared image cache, and a look at what labs leave on it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clusterwright.operate.cluster import Cluster
from clusterwright.operate.session import ssh_argv
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.machine import Bind
from clusterwright.providers.lab.network import lab_key

ARCHIVES = "/var/cache/apt/archives"
LABS = ("story", "pulled", "halfway", "damaged", "nospace", "bare", "netbooted")
DESCRIPTION = """\
cluster: story
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small}
  login: {roles: login, machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
users:
  ada: {uid: 2001}
"""


@dataclass(frozen=True)
class Desk:
    """Where commands are typed."""

    folder: Path
    inside: tuple[str, ...] = ()
    """What each command begins with, where all of them run in a network of their own."""

    @property
    def state(self) -> Path:
        return self.folder / "state"

    @property
    def environment(self) -> Mapping[str, str]:
        return {**os.environ, "XDG_STATE_HOME": str(self.state), "NO_COLOR": "1", "COLUMNS": "110"}

    def describe(self, text: str = DESCRIPTION) -> Path:
        file = self.folder / "cluster.yaml"
        file.write_text(text)
        return file

    def start(self, *words: str) -> subprocess.Popen[str]:
        return self._start([str(Path(sys.executable).with_name("clusterwright")), *words])

    def _start(self, argv: Sequence[str], errors: int = subprocess.STDOUT) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self.inside, *argv],
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, code: int = 0, timeout: float = 1800) -> str:
        return self._ended(self.start(*words), f"clusterwright {' '.join(words)}", code, timeout)

    def _ended(self, process: subprocess.Popen[str], what: str, code: int = 0, timeout: float = 1800) -> str:
        """One that takes too long is ended, as it holds the cluster."""
        try:
            output, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.kill(process)
            raise
        assert process.returncode == code, f"{what} → {process.returncode}\n{output}{errors or ''}"
        return output

    def outcome(self, *words: str, code: int = 0) -> Any:
        """The last line of `--json`."""
        return json.loads(self.run(*words, "--json", code=code).strip().splitlines()[-1])["outcome"]

    def until(self, words: str, *command: str) -> subprocess.Popen[str]:
        """A command that goes on, from the moment at which it has said these words."""
        process = self.start(*command)
        assert process.stdout
        heard = []
        for line in process.stdout:
            heard.append(line)
            if words in line:
                return process
        raise AssertionError("".join(heard))

    @contextmanager
    def halted(self, process: subprocess.Popen[str]) -> Iterator[None]:
        """It does nothing further meanwhile; what it has begun on nodes goes on."""
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    def kill(self, process: subprocess.Popen[str]) -> None:
        """As a machine that loses its power."""
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def booted(self, node: str) -> str:
        """When the node booted: another answer after another boot."""
        return self.on(node, "cut -d' ' -f22 /proc/1/stat").strip()

    def begun_and_not_completed(self, job: str) -> list[str]:
        """Tasks of an array that got a node, and did not end well there or had to begin again."""
        words = f"sacct --allusers --allocations --noheader --parsable2 --jobs={job}"
        # slurmctld tells slurmdbd of an end in the background.
        going = f"{words} --format=State | grep -qE 'PENDING|RUNNING'"
        self.on("controller", f'timeout 240 sh -c "while {going}; do sleep 0.3; done"')
        rows = self.on("controller", f"{words} --format=JobID,State,Restarts,NodeList").splitlines()
        assert rows
        cells = [row.split("|") for row in rows]
        return [
            row
            for row, (_, state, restarts, node) in zip(rows, cells, strict=True)
            if node != "None assigned" and (state, restarts) != ("COMPLETED", "0")
        ]

    def as_user(self, *command: str, cluster: str = "story") -> str:
        """What a command of a user's prints on the login node; what srun says of waiting is none of it."""
        argv = self._ssh(cluster, None, command, "ada")
        return self._ended(self._start(argv, subprocess.PIPE), " ".join(command))

    def on(self, node: str, script: str, code: int = 0, cluster: str = "story") -> str:
        """What a shell script prints on a node, as root."""
        process = self._start(self._ssh(cluster, node, ("sh", "-c", script)))
        return self._ended(process, f"{node}: {script}", code)

    def _ssh(
        self, cluster: str, node: str | None, command: Sequence[str], user: str | None = None
    ) -> list[str]:
        """What `clusterwright ssh` becomes; its own start costs more than most of what is looked at."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("XDG_STATE_HOME", str(self.state))
            return ssh_argv(Cluster.named(cluster), node, command, user)

    def cut_power(self, node: str, cluster: str = "story") -> None:
        """The node ends at once; whether SSH still sees that is chance."""
        self.start("ssh", cluster, node, "--", "systemctl", "poweroff", "--force", "--force").communicate()

    def lose(self, node: str, cluster: str = "story") -> None:
        """Its power is cut, and it is off when this returns."""
        self.cut_power(node, cluster)
        lab, deadline = Lab(LabHome.of_user(self.environment), cluster), time.monotonic() + 60
        while any(one.name == node and one.state == "running" for one in lab.status().nodes):
            assert time.monotonic() < deadline, f"{node} still runs"
            time.sleep(0.05)

    def batch_script(self, node: str) -> str:
        """The process of the job there, which starts after slurmctld says so; its forks are younger."""
        return self.on(node, "until pgrep --oldest --full '[s]lurm_script'; do sleep 0.2; done").strip()

    def running(self) -> set[str]:
        """Jobs that run now."""
        return set(self.as_user("squeue", "--noheader", "--states=R", "--format=%A").split())

    def until_the_queue_is_empty(self) -> None:
        """No job runs, waits or is being completed."""
        deadline = time.monotonic() + 600
        while jobs := self.as_user("squeue", "--noheader"):
            assert time.monotonic() < deadline, jobs
            time.sleep(0.3)

    def submit(self, node: str, *options: str) -> str:
        """A job that runs until it is cancelled; returns once it runs."""
        job = self.as_user("sbatch", "--parsable", f"--nodelist={node}", *options, "--wrap=sleep 600").strip()
        deadline = time.monotonic() + 600
        while job not in self.running():
            assert time.monotonic() < deadline, f"job {job} does not start"
            time.sleep(0.3)
        return job

    def left(self, *names: str) -> set[str]:
        """What labs of this desk left on the machine; labs of other people are not looked at."""
        home = LabHome.of_user(self.environment)
        keys = [lab_key(home, name) for name in names or LABS]
        return {trace for trace in _traces(self.inside) if any(key in trace for key in keys)}


@contextmanager
def cleared(desk: Desk) -> Iterator[Desk]:
    """Whatever was left running there is destroyed at the end, and nothing may remain."""
    yield desk
    for home in sorted((desk.state / "clusterwright" / "clusters").glob("[a-z]*")):
        desk.run("destroy", home.name)
    left = desk.left()
    shutil.rmtree(desk.folder, ignore_errors=True)
    assert not left


def archives(home: LabHome, folder: Path) -> Bind:
    """Downloaded packages for one machine, as apt has its lock in their folder."""
    shutil.copytree(home.package_archives, folder, copy_function=_link)
    return Bind(folder, ARCHIVES)


def _link(source: str, target: str) -> None:
    if Path(source).suffix == ".deb":
        os.link(source, target)


def _traces(inside: tuple[str, ...]) -> Iterator[str]:
    """Every interface, table, mount, control group and machine."""
    for words in (["ip", "-brief", "link"], ["nft", "list", "tables"]):
        argv = [*inside, *words]
        yield from subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()
    yield from Path("/proc/self/mounts").read_text().splitlines()
    yield from map(str, Path("/sys/fs/cgroup").glob("*/clusterwright/*"))
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):
            yield command.read_bytes().replace(b"\0", b" ").decode(errors="replace")
