"""Finding and ending the lab's own processes by what they are, never by a number remembered from before."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

MACHINE_OPTION = "--machine="
MACHINES = "cw-"
"""How the machine names of all labs begin."""
_PROGRAM = "systemd-nspawn"


def running_machines(prefix: str) -> Mapping[str, int]:
    """Machine name → process id of each running node whose machine name starts with `prefix`.

    The command line names the node, so a process id given to another program since cannot be mistaken.
    """
    found: dict[str, int] = {}
    for pid in _process_ids():
        machine = machine_of(pid)
        if machine and machine.startswith(prefix):
            # Of launcher, nspawn and its helper children, the eldest is the one to signal.
            found[machine] = min(pid, found.get(machine, pid))
    return found


def machine_of(pid: int) -> str:
    """The machine that a process is the launcher or the container manager of; empty for any other process."""
    line = _command_line(pid)
    if _PROGRAM not in line:
        return ""
    words = line.split("\0")
    if not any(Path(word).name == _PROGRAM for word in words):
        return ""
    return next((word.removeprefix(MACHINE_OPTION) for word in words if word.startswith(MACHINE_OPTION)), "")


def send(pid: int, machine: str, number: signal.Signals, wait_s: float) -> bool:
    """Signal the machine's process if it still is that; True when it is gone within the time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        # With the handle open the id cannot pass to another process between this check and the signal.
        if machine_of(pid) != machine:
            return True
        signal.pidfd_send_signal(handle, number)
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        return bool(poll.poll(wait_s * 1000))
    except ProcessLookupError:
        return True
    finally:
        os.close(handle)


def _process_ids() -> Iterator[int]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def _command_line(pid: int) -> str:
    process = Path(f"/proc/{pid}")
    try:
        while not (raw := (process / "cmdline").read_bytes()):
            # Empty for a zombie and a kernel thread, which have no program, and for an instant during exec.
            (process / "exe").readlink()
            time.sleep(0.001)
    except OSError:
        return ""
    return raw.decode(errors="replace")
