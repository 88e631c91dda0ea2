"""The lab's machines, as `operate` sees them."""

from __future__ import annotations

import hashlib
import platform
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path

from clusterwright.bundle.shares import mounted
from clusterwright.catalog.distributions import distribution
from clusterwright.catalog.gpu_health import RDMA_KINDS
from clusterwright.catalog.hardware import Hardware, Nic
from clusterwright.catalog.machines import virtual_mtu
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Finding
from clusterwright.handoff import Handoff, Node
from clusterwright.handoff.software import MIRROR
from clusterwright.operate.lab_shares import lab_shares, shares_of
from clusterwright.operate.machines import Install
from clusterwright.operate.pull.folder import Folder
from clusterwright.operate.pull.store import Store
from clusterwright.plan.model import Ground, Mirror
from clusterwright.plan.software import DISTRIBUTION, Lock
from clusterwright.providers.lab import ssh as lab_ssh
from clusterwright.providers.lab.cgroup import cgroup_facts
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing
from clusterwright.providers.lab.image import bake, image_path
from clusterwright.providers.lab.lab import Lab
from clusterwright.providers.lab.logs import logs
from clusterwright.providers.lab.machine import Bind, LabNode
from clusterwright.providers.lab.rootfs import Base, OnEvent
from clusterwright.providers.lab.simulate import Hardware as Simulated
from clusterwright.providers.lab.simulate import SimulatedGpu, SimulatedNic
from clusterwright.providers.lab.vendor.contents import Wanted, packages
from clusterwright.providers.lab.vendor.repository import KEY_FILE, build

VENDOR_FOLDER = "/run/simulated-vendors"
"""Where a node sees the repositories of simulated packages."""
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Of a machine in Debian's words."""
_DRIVERS = {"amdgpu", "driver"}
PLAYED = ("kernel", "ceph")
"""No container boots a kernel or mounts CephFS: what the distribution carries for that is played, too."""
_PREINSTALLED = "580.95.05"
"""The driver of a node whose pool has none in its lock."""


@dataclass(frozen=True)
class LabMachines:
    """One lab. `sites` are the names that its one network is divided among."""

    name: str
    sites: tuple[str, ...]
    home: LabHome = field(default_factory=LabHome.of_user)

    @property
    def _lab(self) -> Lab:
        return Lab(self.home, self.name)

    def unmet(self) -> list[Finding]:
        return missing(self.home)

    def ground(self, lock: Lock) -> Mapping[str, Ground]:
        subnet = self._lab.reserve().subnet
        parts = subnet.subnets(prefixlen_diff=(len(self.sites) - 1).bit_length())
        facts, mirror = cgroup_facts(), simulated_vendors(lock, self.home)
        return {
            site: Ground(str(part), facts.plugin, facts.mountpoint, simulated=True, mirror=mirror)
            for site, part in zip(self.sites, parts, strict=False)
        }

    def ensure_image(self, handoff: Handoff, key: str, install: Install, report: Report) -> None:
        base = _base(handoff)
        digest = _on_base(key, base)
        if image_path(self.home, digest):
            return
        report(Event("image", "started", "installing everything that a node may need, once"))
        bake(
            self.home,
            digest,
            lambda target: install(_target(target)),
            _told(report, "image"),
            base,
            binds=self._binds(handoff),
        )
        report(Event("image", "ok", "baked"))

    def ensure(
        self, handoff: Handoff, images: Mapping[str, str], report: Report, user_data: str = ""
    ) -> Mapping[str, Target]:
        found: dict[str, Target] = {}
        for key in dict.fromkeys(images[node.name] for node in handoff.nodes):
            alike = [node for node in handoff.nodes if images[node.name] == key]
            found |= self._ensure(handoff, alike, key, report, user_data)
        return found

    def _binds(self, handoff: Handoff) -> list[Bind]:
        """All repositories, so that a node that runs sees those that are made later."""
        return [Bind(self.home.vendor, VENDOR_FOLDER)] if MIRROR in handoff.software["repositories"] else []

    def _ensure(
        self, handoff: Handoff, nodes: Iterable[Node], key: str, report: Report, user_data: str
    ) -> Mapping[str, Target]:
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
            shares=lab_shares(handoff),
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
        self._lab.inject(node, fault, number)

    def mend_hardware(self, node: str, fault: str | None, number: int | None) -> None:
        """Take back one fault, or without a name all."""
        self._lab.repair(node, fault, number)

    def destroy(self, report: Report) -> None:
        self._lab.destroy()
        report(Event("nodes", "changed", "removed"))

    def logs(self, node: str, *, follow: bool = False, console: bool = False) -> Iterator[str]:
        return logs(self._lab, node, follow=follow, console=console)


def simulated_vendors(lock: Lock, home: LabHome) -> Mirror | None:
    """Simulated packages with the names and versions of the lock, in place of the vendors' own."""
    wanted = vendors_packages(lock)
    if not wanted:
        return None
    made = build(packages(wanted, host_architecture()), home.vendor, home.vendor_key)
    return Mirror(f"file:{VENDOR_FOLDER}/{made.name}", "/", (), str(made / KEY_FILE))


def vendors_packages(lock: Lock) -> list[Wanted]:
    """What a lock has that no distribution carries, and what of it no container can use."""
    return [
        Wanted(component, row.version, package, version)
        for rows in lock.pools.values()
        for component, row in rows.items()
        if row.repository != DISTRIBUTION or component in PLAYED
        for package, version in row.packages.items()
    ]


def host_architecture() -> str:
    """In Debian's words."""
    return _ARCHITECTURES[platform.machine()]


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


def _target(found: lab_ssh.Target) -> Target:
    return Target(found.name, found.address, found.port, found.user, found.key_file, found.known_hosts_file)


def _by_name(found: Iterable[lab_ssh.Target]) -> Mapping[str, Target]:
    return {target.name: _target(target) for target in found}


def simulated_hardware(node: Node, handoff: Handoff) -> Simulated:
    """What a lab node plays of its machine type."""
    # slurmd reads local_cpulist as processors of the machine that it runs on: with planned ones that are not
    # there, a GPU is near to no core at all, and no job can have GPUs of both sockets.
    here = Path("/sys/devices/system/cpu/online").read_text().strip()
    hardware = handoff.hardware[node.machine]
    gpus = tuple(
        SimulatedGpu(
            minor=gpu.minor,
            model=hardware.gpu_model or "unknown",
            pci=gpu.pci or _pci(gpu.minor),
            uuid=_gpu_uuid(node.name, gpu.minor),
            memory_mib=hardware.gpu_memory_mib or 0,
            cpu_list=here,
            numa=gpu.numa,
        )
        for gpu in hardware.gpus
    )
    mtu = virtual_mtu(node.machine) or 1500
    nics = tuple(
        SimulatedNic(f"{nic.kind[:8]}{nic.index}", nic.gbps, kind=nic.kind, mtu=mtu)
        for nic in _fabric_cards(hardware)
    )
    brought = _DRIVERS & set(handoff.software["stacks"].get(node.pool, {}))
    return Simulated(
        gpus,
        nics,
        driver_version=_PREINSTALLED if gpus and not brought else "",
        nvlink_domain=hardware.nvlink_domain or 0,
        nvlink_cluster=_uuid(f"{handoff.name}/{node.block}") if node.block and _spans_nodes(hardware) else "",
        shares=shares_of(mounted(handoff, node)),
        address=node.address,
        ethernet_gbps=sum(nic.gbps for nic in hardware.nics if nic.kind == "ethernet"),
    )


def _fabric_cards(hardware: Hardware) -> list[Nic]:
    """Beside RDMA cards a virtual one is the host's network; without them it is what GPUs talk over."""
    cards = [nic for nic in hardware.nics if nic.kind != "ethernet"]
    return [nic for nic in cards if nic.kind in RDMA_KINDS] or cards


def _spans_nodes(hardware: Hardware) -> bool:
    return (hardware.nvlink_domain or 0) > len(hardware.gpus)


def _pci(minor: int) -> str:
    """A place for a card whose machine type tells none."""
    return f"0000:{0x10 + 0x10 * minor:02x}:00.0"


def _gpu_uuid(node: str, minor: int) -> str:
    """The same for the life of a node's name, as a serial number is for a card."""
    return f"GPU-{_uuid(f'{node}/{minor}')}"


def _uuid(name: str) -> str:
    return str(uuid.UUID(bytes=hashlib.md5(name.encode(), usedforsecurity=False).digest()))
