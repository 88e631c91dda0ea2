"""Machines that exist already, as `operate` sees them: nothing is made or removed, the rest is the same."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clusterwright.bundle.login import ADMIN
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.journal import journal
from clusterwright.operate.machines import Install
from clusterwright.operate.own.record import Known, Record
from clusterwright.operate.own.trust import Trust
from clusterwright.operate.pull.store import Store
from clusterwright.operate.remote import NO_ANSWER, run_on

if TYPE_CHECKING:
    from clusterwright.plan.model import Ground
    from clusterwright.plan.software import Lock

SSH_PORT = 22
BOOT_SECONDS = 1800.0
"""Servers with eight GPUs test their memory for a quarter of an hour and more."""
_AT_ONCE = 128
_CONNECT_SECONDS = 3.0
_GREETING_SECONDS = 20.0
"""A machine takes a connection at once, or it is off; a busy one may take a while to say who answers."""
_MARK = "/run/clusterwright-boots"
"""Gone after a boot, as everything there."""


@dataclass(frozen=True)
class OwnMachines:
    """The machines of one cluster. `sites` are the names of its sites."""

    home: ClusterHome
    sites: tuple[str, ...]

    @property
    def _record(self) -> Record:
        return Record(self.home)

    def unmet(self) -> list[Finding]:
        remedy = "Install the package openssh-client on this machine"
        return [
            Finding("CW8020", Where(path=program), f"the program {program} is not installed", remedy)
            for program in ("ssh", "ssh-keygen")
            if shutil.which(program) is None
        ]

    def ground(self, _lock: Lock) -> Mapping[str, Ground]:
        return dict.fromkeys(self.sites, self._record.ground())

    def ensure_image(self, _handoff: Handoff, _key: str, _install: Install, _report: Report) -> str | None:
        """Machines of one's own have their system on their disks."""
        return None

    def ensure(
        self, handoff: Handoff, _images: Mapping[str, str], report: Report, _user_data: str = ""
    ) -> Mapping[str, Target]:
        known = self._record.read()
        if handoff.nodes and not known:
            raise _not_bootstrapped(handoff, [node.name for node in handoff.nodes])
        for node in handoff.nodes:
            if node.name not in known:
                report(Event("nodes", "unreachable", "not bootstrapped yet", node.name))
        return {name: target for name, target in self.targets(handoff).items() if name in known}

    def store(self, _handoff: Handoff, *, serve: bool = True) -> Store:
        what = f"own machines find no store to pull from: none is {'served' if serve else 'kept'} from here"
        raise refuse("CW8003", Where(path="converge"), what, "Leave out `converge: pull`")

    def targets(self, handoff: Handoff) -> Mapping[str, Target]:
        known, trust = self._record.read(), Trust(self.home)
        key, hosts, nobody = trust.key, trust.known_hosts, Known("", SSH_PORT)
        return {
            node.name: Target(node.name, node.address, known.get(node.name, nobody).port, ADMIN, key, hosts)
            for node in handoff.nodes
        }

    def existing(self) -> Mapping[str, str]:
        known = self._record.read()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            greeted = list(pool.map(greets, known.values()))
        return {name: "running" if up else "stopped" for name, up in zip(known, greeted, strict=True)}

    def reboot(self, handoff: Handoff, _images: Mapping[str, str], report: Report) -> None:
        targets = tuple(self.targets(handoff).values())
        report(Event("reboot", "progress", f"waits {BOOT_SECONDS / 60:.0f} minutes at most"))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            wrong = [finding for finding in pool.map(_boot, targets) if finding]
        if wrong:
            raise Refused(wrong)

    def remove(self, nodes: Collection[str], report: Report) -> None:
        self._record.forget(nodes)
        for node in sorted(nodes):
            report(Event("nodes", "changed", "no longer ours; the machine stays as it is", node))

    def destroy(self, report: Report) -> None:
        report(Event("nodes", "changed", "the machines stay as they are; what opened them is forgotten"))

    def logs(
        self, node: str, *, follow: bool = False, console: bool = False, last: int | None = None
    ) -> Iterator[str]:
        if console:
            remedy = f"`clusterwright bmc console {self.home.name} {node}` shows it, where it has a BMC"
            raise refuse("CW8087", Where(path=node), "no console of an own machine is seen from here", remedy)
        known, trust = self._record.read(), Trust(self.home)
        if node not in known:
            raise refuse("CW8013", Where(path=node), f"{node} was not bootstrapped", "Bootstrap it first")
        at = Target(node, known[node].address, known[node].port, ADMIN, trust.key, trust.known_hosts)
        elsewhere = f"Look at its console: `clusterwright bmc console {self.home.name} {node}`"
        return journal(at, elsewhere, follow=follow, last=last, of_this_boot=True)


def greets(known: Known) -> bool:
    """Whether an SSH server answers there."""
    try:
        with socket.create_connection((known.address, known.port), _CONNECT_SECONDS) as connection:
            connection.settimeout(_GREETING_SECONDS)
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False


def _boot(target: Target) -> Finding | None:
    """What went wrong; None where it is back."""

    def wrong(what: str) -> Finding:
        return Finding("CW8178", Where(path=target.name), what, "Look at its console")

    marked = run_on(target, f"touch {_MARK}")
    told = marked if marked.code else run_on(target, "systemctl reboot")
    # One that reboots at once does not answer any more.
    if told.code and (told is marked or told.code != NO_ANSWER):
        return wrong(
            f"could not be told to reboot: {told.error.strip()[-300:] or f'exit status {told.code}'}"
        )
    deadline = time.monotonic() + BOOT_SECONDS
    while time.monotonic() < deadline:
        time.sleep(1.0)
        if run_on(target, f"test ! -e {_MARK}", timeout=10).code == 0:
            return None
    return wrong("did not come back from its reboot")


def _not_bootstrapped(handoff: Handoff, nodes: Iterable[str]) -> Refused:
    first = next(iter(nodes))
    what = f"none of its machines was bootstrapped, {first} neither"
    remedy = "Run `clusterwright bootstrap FILE` with the same description first: it lets clusterwright in"
    return refuse("CW8184", Where(path=handoff.name), what, remedy)
