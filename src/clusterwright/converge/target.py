"""A node as SSH reaches it."""

from __future__ import annotations

import os
import shlex
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Target:
    """Where a node answers, who to log in as, and which host key it must show."""

    name: str
    address: str
    port: int
    user: str
    key_file: Path
    known_hosts_file: Path

    def ssh_options(self) -> list[str]:
        """What every connection to this node uses, so that all of them share one multiplexed session."""
        settings = {
            "BatchMode": "yes",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": str(self.known_hosts_file),
            "GlobalKnownHostsFile": "/dev/null",
            "IdentitiesOnly": "yes",
            "PasswordAuthentication": "no",
            "ConnectTimeout": "5",
            "ServerAliveInterval": "5",
            "ServerAliveCountMax": "3",
            "LogLevel": "ERROR",
            "ControlMaster": "auto",
            "ControlPath": str(control_folder() / "%C"),
            "ControlPersist": "60s",
        }
        pairs = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
        return ["-F", "/dev/null", "-i", str(self.key_file), "-p", str(self.port), *pairs]

    def ssh_argv(self) -> list[str]:
        """The command line up to, and without, the remote command."""
        return ["ssh", *self.ssh_options(), f"{self.user}@{self.address}"]

    def argv(self, command: str) -> list[str]:
        """The command line of a shell command that root runs there."""
        as_root = command if self.user == "root" else f"sudo -n sh -c {shlex.quote(command)}"
        return [*self.ssh_argv(), as_root]


def control_folder() -> Path:
    """Private and short: a UNIX socket's path has at most 107 bytes."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime) / "clusterwright" if runtime else Path(tempfile.gettempdir()) / f"cw-{os.getuid()}"
    folder = base / "ssh"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to another user")
    return folder
