"""Starting a node's container manager so that it outlives the caller, be the host's init systemd or not."""

from __future__ import annotations

import os
import subprocess
from ipaddress import IPv4Address
from pathlib import Path

from clusterwright.providers.lab import simulate
from clusterwright.providers.lab.cgroup import host_runs_systemd, mounts_both_versions
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.machine import Bind, Machine, Surroundings
from clusterwright.providers.lab.process import MACHINE_OPTION

_CONSOLE_BYTES_KEPT = 4 * 1024 * 1024
_FUSE = Path("/dev/fuse")
# A file, because systemd would expand the variables of a script that it is given as an argument.
_LAUNCHER = Path(__file__).with_name("launch")


def start(machine: Machine, around: Surroundings) -> None:
    """Boot a node that does not run."""
    recorded = machine.record()
    assert recorded is not None, "prepare() comes before start()"
    _trim_console(machine.console)
    overlay = f"lowerdir={recorded['layers']},upperdir={machine.upper},workdir={machine.folder / 'work'}"
    groups = " ".join(str(path) for path in machine.groups.create())
    argv = ["unshare", "--mount", "--propagation", "private", "sh", str(_LAUNCHER)]
    bridge = around.network.at(IPv4Address(recorded["address"])).bridge
    argv += [overlay, str(machine.folder / "root"), groups, *_nspawn(machine, around, bridge)]
    if host_runs_systemd():
        run([*_as_service(machine), *argv])
    else:
        _as_daemon(machine, argv)


def _as_daemon(machine: Machine, argv: list[str]) -> None:
    with machine.console.open("ab") as console:
        subprocess.run(
            ["setsid", "--fork", *argv],
            stdin=subprocess.DEVNULL, stdout=console, stderr=console, env=_environment(), cwd="/", check=True,
        )  # fmt: skip


def _as_service(machine: Machine) -> list[str]:
    """A transient unit: it has a group of its own and does not end with the session of who started it."""
    output = f"append:{str(machine.console).replace('%', '%%')}"
    properties = {
        "Delegate": "yes",
        "KillMode": "mixed",
        "StandardError": output,
        "StandardOutput": output,
        "TasksMax": "infinity",
    }
    return [
        "systemd-run",
        "--quiet",
        "--collect",
        # Returns when the launcher runs, not when a process that will be it was forked.
        "--service-type=exec",
        f"--unit={machine.machine_name}",
        *(f"--property={key}={value}" for key, value in properties.items()),
        *(f"--setenv={key}={value}" for key, value in _environment().items()),
        "--",
    ]


def _nspawn(machine: Machine, around: Surroundings, bridge: str) -> list[str]:
    argv = ["systemd-nspawn", "--quiet", "--boot", "--keep-unit", "--register=no"]
    argv += [f"{MACHINE_OPTION}{machine.machine_name}", f"--hostname={machine.name}"]
    argv += [f"--directory={machine.folder / 'root'}", f"--network-bridge={bridge}"]
    argv += ["--resolv-conf=off", "--timezone=off", "--link-journal=no", "--console=read-only"]
    argv.append(f"--bind-ro={_escaped(machine.hardware_folder)}:{simulate.NODE_FOLDER}")
    shared = [*around.binds, *(Bind(source, target) for source, target in machine.groups.binds())]
    argv += [f"--bind={_escaped(bind.source)}:{bind.target}" for bind in shared]
    # Of what any machine has, a container runtime in the node needs these two, which nspawn withholds.
    argv += ["--system-call-filter=@keyring", *([f"--bind={_FUSE}"] if _FUSE.exists() else [])]
    return [*argv, "--", "--show-status=yes"]


def _environment() -> dict[str, str]:
    environ = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    # The lab's own lock keeps two from starting one node; nspawn's would stay behind after a kill.
    environ["SYSTEMD_NSPAWN_LOCK"] = "0"
    if mounts_both_versions():
        environ["SYSTEMD_NSPAWN_UNIFIED_HIERARCHY"] = "1"
    return environ


def _trim_console(path: Path) -> None:
    """Keep the end of a console log that many boots have made long."""
    if path.exists() and path.stat().st_size > _CONSOLE_BYTES_KEPT:
        with path.open("r+b") as stream:
            stream.seek(-_CONSOLE_BYTES_KEPT // 2, os.SEEK_END)
            end = stream.read()
            stream.seek(0)
            stream.truncate()
            stream.write(end)


def _escaped(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace(":", "\\:")
