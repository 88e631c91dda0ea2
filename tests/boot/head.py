"""What a controller has from its rendered files, moved below a folder of the test's."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.render import render
from clusterwright.spec.load import loads
from clusterwright.spec.machines import parse_machines
from clusterwright.spec.site import OnpremSite

from .wires import Machine, daemon

DESCRIPTION = """\
cluster: small
site:
  provider: onprem
  network: 10.74.0.0/24
  machines: machines.csv
  boot: BOOT
  firewall: {operators_from: 10.9.0.0/24}
pools:
  head: {roles: [controller, login], machine: generic-x86-2c, nodes: head1}
  work: {roles: compute, machine: generic-x86-2c, nodes: "work[1-2]", image: small-1}
  disk: {roles: compute, machine: generic-x86-2c, nodes: disk1}
software: {distribution: debian-12, monitoring: false}
"""
MACHINES = """\
node,mac,address
head1,0c:42:a1:00:00:00,10.74.0.10
work1,0c:42:a1:00:00:01,10.74.0.11
work2,0c:42:a1:00:00:02,10.74.0.12
disk1,0c:42:a1:00:00:03,10.74.0.13
"""
HEAD = "10.74.0.10"
_PLACES = {
    "/etc/clusterwright/boot": "etc/clusterwright/boot",
    "/srv/clusterwright/www": "srv/clusterwright/www",
    "/var/lib/dnsmasq": "leases",
    "/run/clusterwright-boot-http": "run",
}


@dataclass(frozen=True)
class Head:
    """The controller's files."""

    folder: Path

    def path(self, place: str) -> Path:
        return self.folder / place.lstrip("/")

    def dnsmasq(self, machine: Machine) -> AbstractContextManager[Popen[bytes]]:
        """As its unit starts it, behind the firewall of the description."""
        self._filter(machine)
        words = ["--keep-in-foreground", "--log-facility=-", f"--conf-file={self._configuration('dnsmasq')}"]
        return daemon(machine, ["dnsmasq", *words], self.folder / "dnsmasq.log")

    def nginx(self, machine: Machine) -> AbstractContextManager[Popen[bytes]]:
        self._filter(machine)
        words = ["nginx", "-c", str(self._configuration("nginx"))]
        return daemon(machine, words, self.folder / "nginx.log")

    def _filter(self, machine: Machine) -> None:
        machine.run("nft", "--file", str(self.path("/etc/clusterwright/firewall/head.nft")))

    @property
    def log(self) -> str:
        return (self.folder / "dnsmasq.log").read_text()

    def _configuration(self, name: str) -> Path:
        return self.path(f"/etc/clusterwright/boot/{name}.conf")


def head(folder: Path, boot: str) -> Head:
    """The controller of a small cluster that boots so."""
    spec = loads(DESCRIPTION.replace("BOOT", boot)).spec
    file, findings = parse_machines(MACHINES, "machines.csv")
    assert findings == [] and isinstance(spec.site, OnpremSite)
    spec.site.know(file)
    for place in _PLACES.values():
        (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / "leases").chmod(0o777)
    for one in render(from_plan(plan(spec))):
        text = one.content
        for meant, place in _PLACES.items():
            text = text.replace(meant, str(folder / place))
        target = folder / one.path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    folder.chmod(0o755)
    return Head(folder)
