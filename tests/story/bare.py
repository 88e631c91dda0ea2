"""Machines of a lab as an installer leaves them: a system, SSH, and a person who has a password."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from clusterwright.operate.lab.shares import lab_shares
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.providers.lab import ssh
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.image import bake
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.machine import LabNode

from .ground import Desk, archives

LAB = "bare"
PASSWORD = "as it came from the factory"
KNOWN = f"echo 'ops:{PASSWORD}' | chpasswd"
"""Gives the person that password."""
# What an installer leaves behind: a person who may use sudo with a password, and a clock that is kept.
# For the sake of time an MPI is there too, and no package is synced to the disk by itself.
_INSTALLED = """
echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/unsafe-io
apt-get update -qq
apt-get install -qq -y --no-install-recommends sudo chrony libopenmpi-dev openmpi-bin >/dev/null
useradd --create-home --home-dir /opt/ops --shell /bin/bash ops
echo 'ops ALL=(ALL) ALL' >/etc/sudoers.d/ops
"""
_NOT_LOOKED_AT = (
    "var/log",
    "var/lib/chrony",
    "var/lib/sudo",
    "var/lib/systemd",
    "run",
    "tmp",
    "home/ops/.cache",
)


@dataclass(frozen=True)
class Floor:
    """Machines on the floor, and who has a password there."""

    lab: Lab
    desk: Desk
    image: Path

    def on(self, name: str, script: str) -> str:
        """As somebody who stands in front of it."""
        [target] = self.lab.targets([name])
        return run(target.ssh_command(script))

    def reached(self, *more: str) -> list[str]:
        return ["--user", "ops", "--password-file", str(self.desk.folder / "password"), *more]

    def tree(self, name: str) -> set[tuple[str, int, int, int]]:
        """Every file of the machine's own, but for logs and what a running system writes by itself."""
        upper, found = self.lab.machine(name).upper, set()
        for file in upper.rglob("*"):
            place, seen = str(file.relative_to(upper)), file.lstat()
            if not place.startswith(_NOT_LOOKED_AT) and not stat.S_ISDIR(seen.st_mode):
                found.add((place, seen.st_mode, seen.st_size, seen.st_mtime_ns))
        return found


@contextmanager
def floor_of(desk: Desk, description: str, machines: str, names: Iterable[str]) -> Iterator[Floor]:
    """Those of these names run, and nobody has a password yet."""
    home = LabHome.of_user(desk.environment)
    lab = Lab(home, LAB)
    digest = hashlib.sha256(f"bare {_INSTALLED}".encode()).hexdigest()[:16]
    try:
        image = bake(home, digest, _install, lambda *_: None)
        (desk.folder / "machines.csv").write_text(machines)
        desk.describe(filled(description, lab))
        handoff = prepare(described(Source(desk.folder / "cluster.yaml"))).handoff
        for name in names:
            binds = [archives(home, desk.folder / "archives" / name)]
            one = LabNode(name, IPv4Address(handoff.by_name[name].address))
            lab.ensure([one], lambda *_: None, image=image, shares=lab_shares(handoff), binds=binds)
        private(desk.folder / "password", f"{PASSWORD}\n")
        yield Floor(lab, desk, image)
    finally:
        lab.destroy()


def filled(description: str, lab: Lab) -> str:
    """The operator's machine has an address beside the nodes' network, and not in it."""
    subnet = lab.reserve().subnet
    *_, network = subnet.subnets()
    return description.replace("NETWORK", str(network)).replace("OPERATOR", str(subnet[1]))


def private(file: Path, text: str) -> None:
    file.touch(0o600)
    file.write_text(text)


def _install(target: ssh.Target) -> None:
    run(target.ssh_command(_INSTALLED))
