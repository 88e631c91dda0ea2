"""A controller in a lab, and beside it a machine of QEMU's that has no system and is behind a BMC."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

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
LAB = "netbooted"
BMC, MAC = "127.0.10.3", "0c:42:a1:00:00:01"
DESCRIPTION = f"""\
cluster: netbooted
site:
  provider: onprem
  network: NETWORK
  machines: machines.csv
  bmc_network: 127.0.10.0/24
  bmc_credentials: file:bmc-login
  bmc: {{protocols: [ipmi], ipmi_port: {ipmi_bmc.PORT}, ipmi_cipher_suite: 3}}
  boot: {{gateway: OPERATOR, arguments: [console=ttyS0, mitigations=off]}}
pools:
  head: {{roles: [controller, login], machine: generic-x86-2c, nodes: head}}
  work: {{roles: compute, machine: generic-x86-2c, nodes: work, image: built}}
users: {{ada: {{uid: 2001}}}}
storage: {{shares: {{/home: {{kind: nfs, server: OPERATOR, export: /home}}}}}}
surroundings: {{time_servers: [HEAD]}}
software: {{distribution: debian-13, monitoring: false}}
scheduler: {{accounting: false}}
"""
MACHINES = f"node,mac,address,bmc_address\nhead,,HEAD,\nwork,{MAC},WORK,{BMC}\n"
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

    def reached(self) -> list[str]:
        [target] = self.lab.targets(["head"])
        return ["--identity", str(target.key_file), "--accept-new"]

    def provisioned(self, *more: str, code: int = 0) -> Any:
        said = self.desk.run("provision", "cluster.yaml", "--accept-new", *more, "--json", code=code)
        return json.loads(said.strip().splitlines()[-1])["outcome"]

    def heard(self, script: str) -> str:
        """What it prints on the machine, which may not answer yet."""
        argv = ["ssh", LAB, "work", "--", "sh", "-c", script]
        return self.desk.start(*argv).communicate()[0]

    def job(self, script: str) -> str:
        """What a user's job prints on the machine."""
        return self.desk.as_user("srun", "sh", "-c", script, cluster=LAB).strip()


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
        known = {"NETWORK": subnet, "OPERATOR": subnet[1], "HEAD": subnet[10], "WORK": subnet[11]}
        desk.describe(_filled(DESCRIPTION, known))
        (desk.folder / "machines.csv").write_text(_filled(MACHINES, known))
        login = desk.folder / "bmc-login"
        login.touch(0o600)
        login.write_text(f"{ipmi_bmc.USER}:{ipmi_bmc.PASSWORD}\n")
        head = LabNode("head", IPv4Address(subnet[10]))
        lab.ensure(
            [head],
            lambda *_: None,
            shares=[Share("home", "/home")],
            binds=[archives(home, desk.folder / "archives")],
        )
        folder = desk.folder / "machine"
        folder.mkdir()
        exported = lab.folder / "shares" / "home"
        with (
            nfs_server(desk.folder / "nfs", str(subnet[1]), exported),
            machine(lab, folder, BMC, MAC) as made,
        ):
            yield Floor(lab, desk, made)
            lab.stop_nodes(["head"])  # while what it has mounted is there
    finally:
        lab.destroy()
        stock.remove(home, [one.manifest.digest for one in stock.stock(home) if one.manifest.cluster == LAB])


def _filled(text: str, known: Mapping[str, object]) -> str:
    for name, value in known.items():
        text = text.replace(name, str(value))
    return text
