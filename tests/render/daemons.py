"""Real Slurm daemons on rendered files: an overlay of a root file system in namespaces of its own.

Everything dies with the first process of the namespaces. Of the host, nothing is touched but a control group
of the stage's own, which is removed.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from clusterwright.catalog.hardware import Hardware
from clusterwright.handoff import Handoff
from clusterwright.providers.lab import simulate
from clusterwright.providers.lab.cgroup import NodeGroups, cgroup_facts
from clusterwright.render.file import NodeFile

_SETUP = """
for group in {groups}; do echo 0 > "$group/cgroup.procs"; done
mount -t overlay overlay -o lowerdir={root},upperdir={top}/upper,workdir={top}/work {top}/merged
cd {top}/merged
mount -t proc proc proc
mount --bind {top}/hardware/proc proc/driver
mkdir -p sys/bus/pci/drivers
mount --bind {top}/hardware/sys sys/bus/pci/drivers
mount -t tmpfs tmpfs dev
for device in null zero full random urandom tty; do cp -a /dev/$device dev/; done
cp -a {top}/hardware/dev/. dev/
mkdir -m 1777 dev/shm
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
{binds}
ip link set lo up
{addresses}
hostname {host}
exec chroot . sleep infinity
"""
_UNSHARE = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--propagation", "private"),
    *("sh", "-ec"),
)
_MOST_ADDRESSES = 16
_DATABASE = Path(__file__).parents[2] / "roles/slurm_database/files/slurmdbd.sql"
_PATIENCE = 600.0
"""Seconds until a daemon or a command is taken for hung, on a machine that is busy with other tests."""


class Stage:
    """A machine that has the addresses of a cluster's nodes."""

    def __init__(self, top: Path, init: int) -> None:
        self.root = Path(f"/proc/{init}/root")
        self._top = top
        self._init = init
        self._started: list[subprocess.Popen[str]] = []

    def run(self, *command: str, stdin: str = "") -> str:
        done = subprocess.run(
            self.inside(command), input=stdin, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
        return done.stdout + done.stderr

    def start(self, *command: str, ready: str, host: str = "") -> Path:
        """Start a daemon and wait until `ready` stands in its log, it ended, or time is up; gives the log."""
        log = self._top / f"{len(self._started)}.log"
        as_host = ("unshare", "--uts", "--mount", "sh", "-c", '[ -z "$0" ] || hostname "$0"; exec "$@"', host)
        with log.open("w") as out:
            process = subprocess.Popen(
                self.inside((*as_host, *command)), stdout=out, stderr=subprocess.STDOUT, text=True
            )
        self._started.append(process)
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and process.poll() is None:
            if re.search(ready, log.read_text(errors="replace")):
                break
            time.sleep(0.05)
        return log

    def await_port(self, port: int) -> None:
        """Until the last daemon listens there, or has ended: it says that it has started before it does."""
        listens, until = re.compile(rf":{port:04X} \S+ 0A "), time.monotonic() + _PATIENCE
        while self._started[-1].poll() is None and time.monotonic() < until:
            if listens.search(self.run("cat", "/proc/net/tcp", "/proc/net/tcp6")):
                return
            time.sleep(0.02)

    def memory_mib(self, program: str) -> int:
        """Resident memory of the one process of this name in the stage."""
        pid = self.run("cat", *(f"/proc/{pid}/status" for pid in self.run("pidof", program).split()[:1]))
        return int(pid.partition("VmRSS:")[2].split()[0]) // 1024

    def wait(self) -> None:
        for process in self._started:
            process.wait()

    def inside(self, command: Sequence[str]) -> list[str]:
        return ["nsenter", "-t", str(self._init), "-m", "-u", "-n", "-p", "-r", "-w", "--", *command]


def skip_without_cgroup_v1() -> None:
    """For stages with a slurmd."""
    if cgroup_facts().plugin != "cgroup/v1":
        pytest.skip("a stage has no systemd, and Slurm's cgroup/v2 plugin needs one")


@contextmanager
def stage(root: Path, handoff: Handoff, top: Path, gpus: Hardware | None = None) -> Iterator[Stage]:
    """Namespaces with this root file system, an address for each of the first nodes, and simulated GPUs."""
    for folder in ("upper", "work", "merged"):
        (top / folder).mkdir(parents=True)
    simulate.write_hardware(top / "hardware", _simulated(gpus))
    groups = NodeGroups("render-test", f"{os.getpid()}-{top.name}")
    log = top / "setup.log"
    try:
        command = [*_UNSHARE, _script(root, top, handoff, groups)]
        with log.open("w") as errors, subprocess.Popen(command, stderr=errors) as unshared:
            made = Stage(top, _init(unshared, log))
            try:
                yield made
            finally:
                unshared.kill()
                made.wait()
    finally:
        groups.remove()


def _script(root: Path, top: Path, handoff: Handoff, groups: NodeGroups) -> str:
    binds = [f"mkdir -p .{place}; mount --bind {path} .{place}" for path, place in groups.binds()]
    controller, *others = handoff.with_role("controller")
    nodes = {controller, *handoff.nodes[:_MOST_ADDRESSES]} - {*others}
    addresses = [f"ip address add {node.address}/32 dev lo" for node in nodes]
    return _SETUP.format(
        root=root,
        top=top,
        host=controller.name,
        groups=" ".join(map(str, groups.create())),
        binds="\n".join(binds),
        addresses="\n".join(addresses),
    )


def _simulated(hardware: Hardware | None) -> simulate.Hardware:
    if hardware is None:
        return simulate.Hardware()
    gpus = [
        simulate.SimulatedGpu(
            minor=gpu.minor,
            model=str(hardware.gpu_model),
            pci=gpu.pci or f"0000:{gpu.minor:02x}:00.0",
            uuid=f"GPU-{gpu.minor}",
            cpu_list=gpu.cores,
        )
        for gpu in hardware.gpus
    ]
    return simulate.Hardware(tuple(gpus))


def _init(unshared: subprocess.Popen[bytes], log: Path) -> int:
    children = Path(f"/proc/{unshared.pid}/task/{unshared.pid}/children")
    while unshared.poll() is None:
        for child in children.read_text().split():
            if Path(f"/proc/{child}/comm").read_text().strip() == "sleep":
                return int(child)
        time.sleep(0.01)
    raise RuntimeError(f"the namespaces could not be set up: {log.read_text()}")


def place(stage: Stage, files: Sequence[NodeFile]) -> None:
    """What roles do: files of the controller in /etc, of a compute node in /node, and keys in both."""
    slurm = _identity(stage, "slurm")
    place_files(stage, files)
    for key in ("slurm.key", "jwt_hs256.key"):
        content = secrets.token_bytes(64)
        for prefix in ("etc", "node/etc"):
            _write(stage.root / prefix / "slurm" / key, content, 0o600, slurm)
    for name in ("health-check", "gate"):
        _write(stage.root / "usr/lib/clusterwright" / name, b"#!/bin/sh\nexit 0\n", 0o755, (0, 0))
    _folder(stage, "var/spool/slurmd", "root")
    conf = next(file.content for file in files if file.path == "/etc/slurm/slurm.conf")
    state = conf.partition("\nStateSaveLocation=/")[2].partition("\n")[0]
    for folder in (state, "run/slurmctld", "run/slurmdbd"):
        _folder(stage, folder, "slurm")


def place_files(stage: Stage, files: Sequence[NodeFile]) -> None:
    """Those that are rendered, and the keys stay."""
    slurm = _identity(stage, "slurm")
    for prefix, role in (("", "controller"), ("node", "compute")):
        for file in files:
            if role in file.roles:
                owner = slurm if file.owner == "slurm" else (0, 0)
                _write(stage.root / prefix / file.path[1:], file.content.encode(), file.mode, owner)


def _write(path: Path, content: bytes, mode: int, owner: tuple[int, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    os.chown(path, *owner)


def _folder(stage: Stage, path: str, owner: str) -> None:
    (stage.root / path).mkdir(parents=True, exist_ok=True)
    os.chown(stage.root / path, *_identity(stage, owner))


def _identity(stage: Stage, user: str) -> tuple[int, int]:
    lines = (stage.root / "etc/passwd").read_text().splitlines()
    fields = next(line.split(":") for line in lines if line.startswith(f"{user}:"))
    return int(fields[2]), int(fields[3])


def _as(user: str) -> tuple[str, ...]:
    return ("setpriv", "--reuid", user, "--regid", user, "--init-groups")


def start_controller(stage: Stage, handoff: Handoff) -> dict[str, Path]:
    """Start the controller's daemons as the users that their units name; the logs of Slurm's."""
    logs = {}
    if handoff.scheduler["release"] < "23.11":
        _folder(stage, "run/munge", "munge")
        stage.run(*_as("munge"), "munged")
    if handoff.scheduler["accounting"]:
        _start_database(stage)
        logs["slurmdbd"] = stage.start(
            *_as("slurm"), "slurmdbd", "-D", "-vv", ready="slurmdbd version .* started"
        )
        stage.await_port(6819)
    # The last that it does on its way up; without a database it looks for no federation.
    last = "No fed_mgr state file" if handoff.scheduler["accounting"] else "No backup controllers"
    logs["slurmctld"] = stage.start(*_as("slurm"), "slurmctld", "-D", "-vv", ready=f"{last}|fatal")
    stage.await_port(6817)
    return logs


def _start_database(stage: Stage) -> None:
    _folder(stage, "run/mysqld", "mysql")
    little = ("--skip-networking", "--innodb-buffer-pool-size=128M")
    stage.start(*_as("mysql"), "mariadbd", *little, ready="ready for connections")
    # The role's own, which makes the database too: MariaDB's client 11.8.9 reads no row in a connection that
    # was first refused for want of it, so slurmdbd, which would make it itself, ends.
    stage.run("mariadb", stdin=_DATABASE.read_text())


def start_node(stage: Stage, name: str) -> Path:
    """Start slurmd of one node with nothing but what a compute node gets."""
    own = "mount --bind /node/etc/slurm /etc/slurm; . /node/etc/default/slurmd"
    return stage.start(
        "sh", "-c", f"{own}; exec slurmd -D -vv $SLURMD_OPTIONS", ready="slurmd started|fatal", host=name
    )
