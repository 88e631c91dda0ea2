"""One lab's machines: made, booted, broken and removed on this one."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

from clusterwright.catalog.distributions import distribution
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Finding
from clusterwright.handoff import Handoff, Node
from clusterwright.operate.machines import Install
from clusterwright.operate.pull.folder import Folder
from clusterwright.operate.pull.store import Store
from clusterwright.providers.lab import damage
from clusterwright.providers.lab import ssh as lab_ssh
from clusterwright.providers.lab.cgroup import cgroup_facts
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing
from clusterwright.providers.lab.image import bake, image_path
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.logs import logs
from clusterwright.providers.lab.machine import Bind, LabNode
from clusterwright.providers.lab.rootfs import Base, OnEvent

if TYPE_CHECKING:
    from clusterwright.plan.model import Ground
    from clusterwright.plan.software import Lock


@dataclass(frozen=True)
class LabMachines:
    """One lab. `sites` are the names of those that its network is divided among.

    What makes machines is loaded by those who make some: a command on a node is not to wait for it."""

    name: str
    sites: tuple[str, ...]
    home: LabHome = field(default_factory=LabHome.of_user)

    @property
    def _lab(self) -> Lab:
        return Lab(self.home, self.name)

    def unmet(self) -> list[Finding]:
        return missing(self.home)

    def ground(self, lock: Lock) -> Mapping[str, Ground]:
        from clusterwright.operate.lab.vendors import simulated_vendors
        from clusterwright.plan.model import Ground

        segments = self._lab.reserve(len(self.sites)).segments
        facts, mirror = cgroup_facts(), simulated_vendors(lock, self.home)
        return {
            site: Ground(str(one.network), facts.plugin, facts.mountpoint, simulated=True, mirror=mirror)
            for site, one in zip(self.sites, segments, strict=True)
        }

    def ensure_image(self, handoff: Handoff, key: str, install: Install, report: Report) -> str | None:
        base = _base(handoff)
        digest = _on_base(key, base)
        if image_path(self.home, digest):
            return None
        report(Event("image", "started", "installing everything that a node may need, once"))
        bake(
            self.home,
            digest,
            lambda target: install(target_of(target)),
            _told(report, "image"),
            base,
            binds=self._binds(handoff),
        )
        report(Event("image", "ok", "baked"))
        return digest

    def ensure(
        self, handoff: Handoff, images: Mapping[str, str], report: Report, user_data: str = ""
    ) -> Mapping[str, Target]:
        from clusterwright.operate.lab.shares import with_shares_of_its_own

        found: dict[str, Target] = {}
        alike: dict[tuple[str, str], list[Node]] = {}
        for node in handoff.nodes:
            alike.setdefault((images[node.name], with_shares_of_its_own(handoff, node.site)), []).append(node)
        for (key, _), nodes in alike.items():
            found |= self._ensure(handoff, nodes, key, report, user_data)
        return found

    def cut(self, network: str) -> None:
        """Let nothing pass between the site with this network and the others."""
        self._lab.cut(IPv4Network(network))

    def join(self) -> None:
        """All sites reach each other again."""
        self._lab.join()

    def _binds(self, handoff: Handoff) -> list[Bind]:
        """All repositories, so that a node that runs sees those that are made later."""
        from clusterwright.handoff.software import MIRROR
        from clusterwright.operate.lab.vendors import VENDOR_FOLDER

        return [Bind(self.home.vendor, VENDOR_FOLDER)] if MIRROR in handoff.software["repositories"] else []

    def _ensure(
        self, handoff: Handoff, nodes: Sequence[Node], key: str, report: Report, user_data: str
    ) -> Mapping[str, Target]:
        from clusterwright.operate.lab.hardware import simulated_hardware
        from clusterwright.operate.lab.shares import lab_shares

        base = _base(handoff)
        found = self._lab.ensure(
            [
                LabNode(
                    node.name,
                    IPv4Address(node.address),
                    simulated_hardware(node, handoff),
                    user_data,
                )
                for node in nodes
            ],
            _told(report, "nodes"),
            image=image_path(self.home, _on_base(key, base)),
            shares=lab_shares(handoff, nodes[0].site),
            binds=self._binds(handoff),
            base=base,
        )
        return _by_name(found)

    def store(self, _handoff: Handoff, *, serve: bool = True) -> Store:
        found = self._lab.store(serve=serve)
        authority = found.certificate.read_text() if found.certificate.exists() else None
        return Store(Folder(found.folder), found.url, authority)

    def targets(self, handoff: Handoff) -> Mapping[str, Target]:
        return _by_name(self._lab.targets([node.name for node in handoff.nodes]))

    def existing(self) -> Mapping[str, str]:
        return {node.name: node.state for node in self._lab.status().nodes}

    def reboot(self, handoff: Handoff, images: Mapping[str, str], report: Report) -> None:
        self._lab.stop_nodes([node.name for node in handoff.nodes])
        self.ensure(handoff, images, report)

    def remove(self, nodes: Collection[str], report: Report) -> None:
        self._lab.remove_nodes(sorted(nodes))
        for node in sorted(nodes):
            report(Event("nodes", "changed", "removed", node))

    def break_hardware(self, node: str, fault: str, number: int) -> None:
        """Raises Refused for a fault or a part that the node does not have."""
        damage.inject(self._lab, node, fault, number)

    def mend_hardware(self, node: str, fault: str | None, number: int | None) -> None:
        """Take back one fault, or without a name all."""
        damage.repair(self._lab, node, fault, number)

    def destroy(self, report: Report) -> None:
        self._lab.destroy()
        report(Event("nodes", "changed", "removed"))

    def logs(
        self, node: str, *, follow: bool = False, console: bool = False, last: int | None = None
    ) -> Iterator[str]:
        return logs(self._lab, node, follow=follow, console=console, last=last)


def _base(handoff: Handoff) -> Base:
    """The checks let only Debian's releases into a lab."""
    surroundings = handoff.cluster["surroundings"]
    mirrors = surroundings["package_mirror"] or "", surroundings["security_mirror"] or ""
    return Base(distribution(handoff.software["distribution"]).codename, *mirrors)


def _on_base(key: str, base: Base) -> str:
    """An image is a layer on one base, and means nothing on another."""
    return hashlib.sha256(f"{key} {base.digest()}".encode()).hexdigest()[:16]


def _told(report: Report, step: str) -> OnEvent:
    def tell(subject: str, text: str) -> None:
        node = None if subject in ("base", "image") else subject
        report(Event(step, "progress", text, node))

    return tell


def target_of(found: lab_ssh.Target) -> Target:
    """A node of a lab, as those who converge see it."""
    return Target(found.name, found.address, found.port, found.user, found.key_file, found.known_hosts_file)


def _by_name(found: Iterable[lab_ssh.Target]) -> Mapping[str, Target]:
    return {target.name: target_of(target) for target in found}
