"""Keys of a lab: the operator's, and each node's host key, known before the node first boots."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.files import write_atomically

PORT = 22


@dataclass(frozen=True, slots=True)
class Target:
    """How to reach a node over SSH."""

    name: str
    address: str
    port: int
    user: str
    key_file: Path
    known_hosts_file: Path

    def ssh_command(self, *command: str) -> list[str]:
        """An OpenSSH command line that asks nothing and trusts only the pinned key."""
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": "5",
            "IdentitiesOnly": "yes",
            "LogLevel": "ERROR",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": str(self.known_hosts_file),
            "GlobalKnownHostsFile": "/dev/null",
        }
        flags = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        where = f"{self.user}@{self.address}"
        return ["ssh", "-F", "none", *flags, "-p", str(self.port), "-i", str(self.key_file), where, *command]


def operator_key(folder: Path) -> Path:
    """The private key that the lab's nodes let in, made on the first call."""
    return key_pair(folder / "operator_ed25519", "clusterwright-lab-operator")


def key_pair(path: Path, comment: str) -> Path:
    """An Ed25519 key pair at `path` and `path`.pub, whole or not at all."""
    if path.exists() and path.with_suffix(".pub").exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_name(f".{path.name}.fresh")
    for old in (fresh, fresh.with_suffix(".fresh.pub")):
        old.unlink(missing_ok=True)
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(fresh)])
    fresh.with_name(f"{fresh.name}.pub").rename(path.with_suffix(".pub"))
    fresh.rename(path)
    return path


def public_key(path: Path) -> str:
    return path.with_suffix(".pub").read_text(encoding="utf-8").strip()


def write_known_hosts(path: Path, keys: Iterable[tuple[str, str, str]]) -> None:
    """Pin each (name, address, public host key)."""
    lines = sorted(f"{name},{address} {' '.join(key.split()[:2])}\n" for name, address, key in keys)
    write_atomically(path, "".join(lines))


def answers(address: str) -> bool:
    """Whether an SSH server greets there; a node that takes a connection may be slow to say so."""
    try:
        with socket.create_connection((address, PORT), timeout=1.0) as connection:
            connection.settimeout(4.0)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def wait_until_answering(address: str, deadline: float, still_runs: Iterable[bool]) -> bool:
    """Wait for the greeting; gives up at the deadline or when the node's process is gone.

    The last try begins after the deadline: where this machine stood still, the node did, too.
    """
    for running in still_runs:
        late = time.monotonic() > deadline
        if answers(address):
            return True
        if not running or late:
            return False
        time.sleep(0.04)
    return False
