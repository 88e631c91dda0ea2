"""A controller in a lab, and beside it a machine of QEMU's that has no system and is behind a BMC."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from tests.bmc import ipmi_bmc

from clusterwright.operate.netboot import stock
from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.machine import LabNode
from clusterwright.providers.lab.model import Share

from .ground import Desk, archives
from .machine import FIRMWARE, Machine, machine
from .nfs_server import nfs_server

_PROGRAMS = ("qemu-system-x86_64", "ganesha.nfsd", "mksquashfs", "ipmi_sim", "ipmitool")
LAB, CLUSTER = "netbooted", "own"
HEAD, WORK = "mgmt1", "r1gpu1"
HEAD_BMC, BMC, MAC = "127.0.10.2", "127.0.10.3", "0c:42:a1:00:00:01"
# NFS-Ganesha 4.3 has Linux 6.12 read holes over NFS 4.2, which the gate `shared-home` sees.
OPTIONS = "vers=4.1,hard,noatime"
DESCRIPTION = f"""\
cluster: {CLUSTER}
site:
  provider: onprem
  network: NETWORK
  machines: own.machines.csv
  bmc_network: 127.0.10.0/24
  bmc_credentials: env:BMC_LOGIN
  bmc: {{protocols: [ipmi], ipmi_port: {ipmi_bmc.PORT}, ipmi_cipher_suite: 3}}
  boot: {{gateway: OPERATOR, arguments: [console=ttyS0, mitigations=off]}}
pools:
  controller: {{roles: [controller, login], machine: generic-x86-2c, nodes: {HEAD}}}
  gpu: {{roles: compute, machine: generic-x86-2c, nodes: {WORK}, image: built}}
users: {{ada: {{uid: 2001}}}}
storage: {{shares: {{/home: {{kind: nfs, server: OPERATOR, export: /home, options: "{OPTIONS}"}}}}}}
surroundings: {{time_servers: [HEAD]}}
software: {{distribution: debian-13, monitoring: false}}
scheduler: {{accounting: false}}
"""
MACHINES = f"node,mac,address,bmc_address\n{HEAD},,HEAD,{HEAD_BMC}\n{WORK},{MAC},WORK,{BMC}\n"
# The host's clock, which a container shares, for a machine that has one of its own.
TIME_SERVER = "systemd-run --unit=time-server /usr/sbin/chronyd -x -d 'local stratum 10' 'allow all'"


@dataclass(frozen=True)
class Floor:
    """A controller, and a machine that is off."""

    lab: Lab
    desk: Desk
    machine: Machine

    def on(self, name: str, script: str) -> str:
        """As somebody who stands in front of it."""
        [target] = self.lab.targets([name])
        return run(target.ssh_command(script))

    def typed(self, command: str) -> str:
        """What a command of docs/from-the-floor.md answers."""
        return self.desk.run(*shlex.split(command)[1:])

    def provisioned(self, *more: str) -> Any:
        words = ("provision", "own.yaml", "--identity", "site.key", "--accept-new")
        return json.loads(self.desk.run(*words, *more, "--json").strip().splitlines()[-1])["outcome"]

    def describe(self, more: str = "") -> None:
        """own.yaml, with `more` of the pool that boots over its network."""
        subnet = self.lab.reserve().subnet
        text = _filled(DESCRIPTION.replace("image: built", f"image: built{more}"), subnet)
        (self.desk.folder / "own.yaml").write_text(text)

    def heard(self, script: str) -> str:
        """What it prints on the machine, which may not answer yet."""
        argv = ["ssh", CLUSTER, WORK, "--", "sh", "-c", script]
        return self.desk.start(*argv).communicate()[0]

    def job(self, script: str) -> str:
        """What a user's job prints on the machine."""
        return self.desk.as_user("srun", "sh", "-c", script, cluster=CLUSTER).strip()


def unmet() -> Sequence[str]:
    """What this machine lacks for it."""
    return [name for name in _PROGRAMS if not shutil.which(name)] + ([] if FIRMWARE.is_dir() else ["ovmf"])


@contextmanager
def floor_of(desk: Desk) -> Iterator[Floor]:
    """The controller has Debian and SSH; images that are built for it are gone in the end."""
    home = LabHome.of_user(desk.environment)
    lab = Lab(home, LAB)
    try:
        subnet = lab.reserve().subnet
        (desk.folder / "own.machines.csv").write_text(_filled(MACHINES, subnet))
        [head] = lab.ensure(
            [LabNode(HEAD, IPv4Address(subnet[10]))],
            lambda *_: None,
            shares=[Share("home", "/home")],
            binds=[archives(home, desk.folder / "archives")],
        )
        shutil.copy(head.key_file, desk.folder / "site.key")
        folder, apart = desk.folder / "machine", desk.folder / "controller"
        folder.mkdir()
        apart.mkdir()
        exported = lab.folder / "shares" / "home"
        with (
            nfs_server(desk.folder / "nfs", str(subnet[1]), exported),
            machine(lab, folder, BMC, MAC) as made,
            ipmi_bmc.served(HEAD_BMC, apart, "SN0"),
            pytest.MonkeyPatch.context() as patched,
        ):
            patched.setenv("BMC_LOGIN", f"{ipmi_bmc.USER}:{ipmi_bmc.PASSWORD}")
            floor = Floor(lab, desk, made)
            floor.describe()
            yield floor
            lab.stop_nodes([HEAD])  # while what it has mounted is there
    finally:
        lab.destroy()
        stock.remove(
            home, [one.manifest.digest for one in stock.stock(home) if one.manifest.cluster == CLUSTER]
        )


def _filled(text: str, subnet: IPv4Network) -> str:
    known = {"NETWORK": subnet, "OPERATOR": subnet[1], "HEAD": subnet[10], "WORK": subnet[11]}
    for name, value in known.items():
        text = text.replace(name, str(value))
    return text
