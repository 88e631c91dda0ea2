"""How far a machine came that is to boot from its controller: told by what DHCP and HTTP wrote down there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clusterwright.finding import Finding, Where
from clusterwright.operate.remote import Reached, run_on
from clusterwright.render.boot import server

if TYPE_CHECKING:
    from clusterwright.operate.own.site import OwnSite

MINUTES = 30
_SILENT = "CW8178"
_NOT_THERE = 9
UNITS = ("clusterwright-boot-dhcp", "clusterwright-boot-http")
"""What a controller answers booting machines with."""
_JOURNAL = (
    f"systemctl --quiet is-active {' '.join(UNITS)} || exit {_NOT_THERE}; "
    "journalctl --quiet --no-pager --output=cat --since=-{seconds:.0f}s "
    + " ".join(f"--unit={unit}" for unit in UNITS)
    + r" --grep='DHCP[A-Z]+\(|(vendor|user) class:|^[0-9.]+ [0-9]+ [0-9]+ /'"
)
_CLASS = re.compile(r"\b(\d+) (vendor|user) class: (.*)$")
_SAID = re.compile(r"\b(\d+) DHCP([A-Z]+)\(\S+\) (?:\S+ )?([0-9a-f]{2}(?::[0-9a-f]{2}){5})\b")
_SERVED = re.compile(r"(\d+\.\d+\.\d+\.\d+) (\d{3}) \d+ (/\S+)$")


_REFUSAL = "/refused/"
"""Nothing is there: that it was asked for stands in the journal."""
_REFUSED = {
    "foreign-disk": (
        "CW8310",
        "its disk has something on it that is no image of clusterwright's, and was left as it is",
        "Look at what that is; then run the same command with --erase, and it is lost",
    ),
    "another-image": (
        "CW8311",
        "its disk has another image, and was left as it is",
        "Run the same command with --rewrite: all that is on this disk is lost",
    ),
    "no-disk": (
        "CW8312",
        "the disk that its image is to be written to is not there",
        "Mend `install_to` of its pool: `ls /dev/disk/by-path` on such a machine",
    ),
    "no-uefi": (
        "CW8313",
        "it started by BIOS, and a disk is made to start by UEFI",
        "Switch its firmware to UEFI, or leave `install_to` out",
    ),
    "not-written": (
        "CW8314",
        "its disk could not be written",
        "Look at its console, and at the disk: too small, or broken",
    ),
    "not-started": (
        "CW8314",
        "the root file system that is on its disk could not be mounted",
        "Run the same command with --rewrite: all that is on this disk is lost",
    ),
}
"""By what the initramfs says of it: code, what, and remedy."""


@dataclass
class Heard:
    """What one machine asked for since it last began to boot."""

    asked: bool = False
    firmware: bool = False
    """It was firmware, or iPXE, that asked first."""
    loader: bool = False
    system: bool = False
    """An operating system came up and asked; one that runs for long only asks to keep its address."""
    acknowledged: bool = False
    fetched: dict[str, int] = field(default_factory=dict)
    """Path → status, of what it fetched over HTTP."""

    @property
    def root(self) -> bool:
        """Its initramfs has the whole image."""
        return any(path.endswith("/root.squashfs") and code == 200 for path, code in self.fetched.items())

    @property
    def refused(self) -> str:
        """Why its initramfs does not write its disk."""
        said = [path for path in self.fetched if path.startswith(_REFUSAL)]
        return said[-1].removeprefix(_REFUSAL) if said else ""


@dataclass(frozen=True, slots=True)
class Machine:
    """One that is waited for. `image`: it runs one from memory."""

    name: str
    mac: str
    address: str
    image: bool


def heard(machine: Machine, lines: Iterable[str]) -> Heard:
    """What these lines of dnsmasq's and nginx's say of a machine."""
    classes: dict[str, str] = {}
    known = Heard()
    for line in lines:
        if told := _CLASS.search(line):
            classes[told[1]] = classes.get(told[1], "") + told[3]
        elif (said := _SAID.search(line)) and said[3] == machine.mac:
            known = _after(known, said[2], classes.get(said[1], ""))
        elif (served := _SERVED.search(line)) and served[1] == machine.address:
            known.fetched[served[3]] = int(served[2])
    return known


def _after(known: Heard, kind: str, classes: str) -> Heard:
    firmware = "PXEClient" in classes
    if kind == "DISCOVER" and firmware:
        return Heard(asked=True, firmware=True, loader="iPXE" in classes)
    known.asked = True
    known.system |= kind == "DISCOVER"
    known.acknowledged |= kind == "ACK"
    return known


def explained(site: OwnSite, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The same, with what their controller knows of machines that do not answer and boot from it."""
    absent = {finding.where.path for finding in findings if finding.code == _SILENT}
    controller = server(site.handoff)
    if controller is None or not absent:
        return tuple(findings)
    known = listened(site, absent)
    found = {one.name: cause(one, said, controller.name) for one, said in known.items()}
    return tuple(found.get(one.where.path, one) if one.code == _SILENT else one for one in findings)


def listened(site: OwnSite, names: Collection[str], seconds: float = MINUTES * 60) -> Mapping[Machine, Heard]:
    """What the controller of these heard of each for so long; nothing of machines that it does not serve."""
    controller = server(site.handoff)
    if controller is None or site.handoff.site[controller.site]["boot"]["dhcp_server"]:
        return {}  # beside another server it hears only a part
    waited = [
        Machine(node.name, mac, node.address, bool(site.image(node)))
        for node in site.handoff.nodes
        if node.name in names and (mac := site.handoff.machines.get(node.name, {}).get("mac"))
    ]
    lines = _told_by(site.targets[controller.name], seconds) if waited else None
    return {} if lines is None else {machine: heard(machine, lines) for machine in waited}


def _told_by(controller: Reached, seconds: float) -> list[str] | None:
    """Lines of its two servers; None where it cannot be asked."""
    said = run_on(controller, _JOURNAL.format(seconds=seconds))
    # 1: nobody asked; else it serves nothing, or is away itself
    return said.output.splitlines() if said.code in (0, 1) else None


def cause(machine: Machine, known: Heard, server: str) -> Finding:
    """What is known of one that does not answer, and what to do."""
    code, what, remedy = _told(machine, known, server)
    return Finding(code, Where(path=machine.name), what, remedy)


def _told(machine: Machine, known: Heard, server: str) -> tuple[str, str, str]:
    again = f"`clusterwright bmc boot network --once FILE {machine.name}` and `bmc power cycle`"
    if known.refused in _REFUSED:
        return _REFUSED[known.refused]
    if not known.asked:
        what = f"{server} has not heard {machine.mac} ask for an address for {MINUTES} minutes"
        remedy = f"See that it is on, and that this card is cabled and the one it boots from; then {again}"
        return "CW8255", what, remedy
    if not known.acknowledged:
        what = f"it asked, and did not take the address that {server} offered: another DHCP server was faster"
        remedy = f"Run `/usr/lib/clusterwright/other-dhcp` on {server}: it prints everybody who answers"
        return "CW8256", what, remedy
    if not known.firmware and known.system:
        what = "an operating system asked for its address, and not its firmware: it started from its disk"
        return "CW8257", what, f"Have it boot from its network: {again}"
    if known.firmware and not known.root:
        return "CW8258", f"it began to boot, and stopped: {_last(machine, known)}", _look(machine)
    seen = "fetched its image" if known.root else "goes on keeping its address"
    return "CW8259", f"it {seen}, and no SSH server answers there", _look(machine)


def _last(machine: Machine, known: Heard) -> str:
    refused = [path for path, code in known.fetched.items() if code >= 400]
    if refused:
        return f"{refused[-1]} is not there to be fetched; `clusterwright up` brings it"
    if known.fetched:
        last = [*known.fetched][-1]
        disk = last.startswith("/nodes/") and not machine.image
        return f"{last} was the last that it fetched" + (", which has it start from its disk" if disk else "")
    if known.loader:
        return "iPXE has an address, and fetched nothing over HTTP"
    return "its firmware has an address, and no loader ran: TFTP is blocked, or Secure Boot refused it"


def _look(machine: Machine) -> str:
    return f"Look at its console: `clusterwright bmc console FILE {machine.name}`"
