"""How machines are reached that nobody was let into yet, and what it means when one of them refuses."""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.bundle.login import ADMIN
from clusterwright.converge.result import NodeResult
from clusterwright.finding import Finding, Where, refuse
from clusterwright.handoff import Node

_LOGIN_PROMPT, _BECOME_PROMPT = r"SSH password:\s*?$", r"BECOME password.*:\s*?$"


@dataclass(frozen=True, slots=True)
class Contact:
    """What the operator knows of the machines as they are."""

    user: str = "root"
    port: int = 22
    key: Path | None = None
    password: str = field(default="", repr=False)
    become_password: str = field(default="", repr=False)
    """Of sudo; without it, the login's."""
    known_hosts: tuple[Path, ...] = ()
    accept_new: bool = False
    """Take the host key that a machine shows the first time, and write it down."""

    @property
    def prompts(self) -> Mapping[str, str]:
        """What Ansible asks, and the answer. Nothing of it is written anywhere."""
        if not (self.password or self.become_password):
            return {}
        return {_LOGIN_PROMPT: self.password, _BECOME_PROMPT: self.become_password or self.password}

    def variables(self, node: Node, noted: Path) -> dict[str, object]:
        """Of a host in Ansible's inventory. `noted` has, and gets, the host keys of first contacts."""
        hosts = " ".join(f'"{file}"' for file in (noted, *self.known_hosts))
        settings = {
            "UserKnownHostsFile": hosts,
            "GlobalKnownHostsFile": "/dev/null",
            "StrictHostKeyChecking": "accept-new" if self.accept_new else "yes",
            "HashKnownHosts": "no",
            "IdentitiesOnly": "yes",
            "NumberOfPasswordPrompts": "1",
            "ConnectTimeout": "10",
            "LogLevel": "ERROR",
            # The next connection is to come by the certificate, and is not to share this one.
            "ControlPersist": "no",
            "ControlPath": "none",
        }
        words = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
        return {
            "ansible_host": node.address,
            "ansible_port": self.port,
            "ansible_user": self.user,
            "ansible_ssh_retries": 0,
            "ansible_ssh_common_args": shlex.join(["-F", "/dev/null", *words]),
            **({"ansible_ssh_private_key_file": str(self.key)} if self.key else {}),
            **({} if self.user == "root" else {"ansible_become": True}),
        }


def secret_in(file: str) -> str:
    """The first line of a file that its owner alone may read, or of what `/dev/fd/N` names."""
    try:
        with Path(file).open(encoding="utf-8") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISREG(mode) and mode & 0o077:
                what, remedy = (
                    "others may read it",
                    f"Run `chmod 600 {shlex.quote(file)}`, and change the password",
                )
                raise refuse("CW8185", Where(file), what, remedy)
            line = stream.readline().rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise refuse(
            "CW8185", Where(file), f"cannot be read ({error})", "Write the password there"
        ) from error
    if not line:
        raise refuse("CW8185", Where(file), "its first line is empty", "Write the password there")
    return line


_DEAD = ("timed out", "No route to host", "Connection refused", "Connection reset", "Connection closed")
_UNKNOWN = ("IDENTIFICATION HAS CHANGED", "Host key verification failed", "Host Key checking is enabled")
_SUDO = (
    "sudo password",
    "a password is required",
    "privilege escalation",
    "not in the sudoers",
    "not allowed to execute",
    "Sorry, try again",
    "this is not root",
)


def finding(node: Node, contact: Contact, result: NodeResult, noted: Path) -> Finding:
    """What a broken node's words mean, and what to do."""
    where, said = Where(path=node.name), result.message.strip()
    if any(words in said for words in _UNKNOWN):
        return _of_host_key(node, contact, noted)
    if any(words in said for words in _DEAD):
        return silent(node, contact.port)
    if "Permission denied (" in said or "Invalid/incorrect" in said:
        if contact.user == ADMIN:
            what = "does not know this cluster's key: it runs another system than what was built for it"
            remedy = f"See what runs there; `clusterwright provision FILE {node.name}` starts its image"
            return Finding("CW8176", where, what, remedy)
        what = f"lets {contact.user} not in with what was given"
        return Finding("CW8176", where, what, f"Run it again for {node.name} with its own password or key")
    if any(words in said for words in _SUDO):
        what = f"{contact.user} may not become root there: {said.splitlines()[-1][:200]}"
        return Finding("CW8179", where, what, "Give sudo's password, or let that user use sudo")
    what = f"{result.failed_task or 'bootstrap'}: {said[-600:]}"
    return Finding(
        "CW8180", where, what, "Mend that, then run the same again; what is done is not done twice"
    )


def _of_host_key(node: Node, contact: Contact, noted: Path) -> Finding:
    where, keys = Where(path=node.name), shown(node.address, contact.port)
    for file in (noted, *contact.known_hosts):
        name = node.address if contact.port == 22 else f"[{node.address}]:{contact.port}"
        if subprocess.run(["ssh-keygen", "-F", name, "-f", str(file)], capture_output=True).returncode == 0:
            what = f"shows another host key than the one of {node.address} in {file}: {keys}"
            remedy = f"See that it is the machine itself; then run `ssh-keygen -R '{name}' -f {file}`"
            return Finding("CW8177", where, what, remedy)
    remedy = "Compare it at the machine; then put its key into a file for --known-hosts, or use --accept-new"
    return Finding("CW8175", where, f"shows a host key that nobody vouched for: {keys}", remedy)


def silent(node: Node, port: int) -> Finding:
    what = f"no SSH server answers at {node.address}, port {port}"
    return Finding("CW8178", Where(path=node.name), what, "See that it is on, cabled, and has that address")


def shown(address: str, port: int) -> str:
    """Fingerprints of the host keys that a machine shows."""
    scan = ["ssh-keyscan", "-T", "5", "-p", str(port), "-t", "ed25519,ecdsa,rsa", address]
    keys = subprocess.run(scan, capture_output=True, text=True, check=False).stdout
    lines = subprocess.run(
        ["ssh-keygen", "-l", "-f", "-"], input=keys, capture_output=True, text=True, check=False
    ).stdout.splitlines()
    found = sorted(
        {f"{cells[-1].strip('()')} {cells[1]}" for line in lines if len(cells := line.split()) > 2}
    )
    return ", ".join(found) or "none that is understood here"
