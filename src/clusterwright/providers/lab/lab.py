"""The front of the lab: reserve a network, ensure nodes, remove them, destroy everything, and look.

Nothing here trusts that the last call finished. What exists is found by names that follow from the lab's
name, so any call after a crash, a kill or a reboot does what is left to do.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from itertools import repeat
from pathlib import Path

from clusterwright.finding import Finding, Refused, Where
from clusterwright.providers.lab import boot, state
from clusterwright.providers.lab import machine as machines
from clusterwright.providers.lab import network as networks
from clusterwright.providers.lab import store as stores
from clusterwright.providers.lab.cgroup import NodeGroups
from clusterwright.providers.lab.files import remove_tree
from clusterwright.providers.lab.graft import graft
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.machine import Bind, LabNode, Machine, Surroundings
from clusterwright.providers.lab.model import LabStatus, NodeStatus, Share
from clusterwright.providers.lab.network import Network, lab_key
from clusterwright.providers.lab.process import running_machines
from clusterwright.providers.lab.rootfs import DEFAULT_BASE, Base, OnEvent, ensure_base
from clusterwright.providers.lab.ssh import (
    PORT,
    Target,
    operator_key,
    public_key,
    wait_until_answering,
    write_known_hosts,
)
from clusterwright.providers.lab.store import LabStore
from clusterwright.providers.lab.together import each

NODE_DID_NOT_BOOT = "CW7010"
ADDRESS_OUTSIDE = "CW7011"
# An underscore cannot be in a cluster's name, so such a lab is nobody's.
BUILDER_PREFIX = "image_"
_BOOT_PATIENCE_S = 120.0
_SILENCE_S = 10.0


@dataclass(slots=True)
class Lab:
    """One lab by name. Methods that change it hold its lock; `locked()` holds it around several."""

    home: LabHome
    name: str
    _held: int = field(default=0, init=False)

    @property
    def folder(self) -> Path:
        return state.folder(self.home, self.name)

    @property
    def key(self) -> str:
        """What the lab's processes, interfaces, groups and tables are named by."""
        return lab_key(self.home, self.name)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lab for several steps; another process is refused by name, this object may nest."""
        if self._held:
            yield
            return
        with state.locked(self.home, self.name):
            self._held += 1
            try:
                yield
            finally:
                self._held -= 1

    def reserve(self, sites: int | None = None) -> Network:
        """The lab's network, chosen and recorded by the first call; None: for as many sites as before."""
        with self.locked():
            return networks.reserve(self.home, self.name, sites)

    def cut(self, site: IPv4Network) -> None:
        """Take the site with this network off the others, until `join`."""
        with self.locked():
            networks.cut(self.reserve(), site)

    def join(self) -> None:
        """All sites reach each other again."""
        with self.locked():
            networks.mend(self.key)

    def ensure(
        self,
        nodes: Sequence[LabNode],
        on_event: OnEvent,
        *,
        image: Path | None = None,
        shares: Sequence[Share] = (),
        binds: Sequence[Bind] = (),
        base: Base = DEFAULT_BASE,
    ) -> list[Target]:
        """Have these nodes up and answering over SSH; those that run are left alone."""
        with self.locked():
            network = self.reserve()
            self._refuse_addresses_outside(network, nodes)
            root = ensure_base(self.home, on_event, base)
            networks.bring_up(self.home, network)
            around = Surroundings(
                network,
                (image, root) if image else (root,),
                (*self._shared_folders(shares), *binds),
                public_key(operator_key(self.folder / "ssh")),
            )
            running = self._running()

            def up(node: LabNode) -> Finding | None:
                machine = self.machine(node.name)
                if self._is_as_wanted(machine, node, around, running):
                    graft(machine, around.binds)
                    machines.refresh_hardware(machine, node.hardware)
                    return None
                machines.stop(machine, 0)
                machines.prepare(machine, node, around)
                on_event(node.name, "booting")
                boot.start(machine, around)
                return self._wait(machine, node, on_event)

            findings = each(up, nodes)
            self._pin_host_keys()
            self._raise(findings)
            return self.targets([node.name for node in nodes])

    def store(self, *, serve: bool) -> LabStore:
        """Where nodes that pull find their bundle; to `serve`, its server answers when this returns."""
        if not serve:
            return LabStore(self.folder / "store", networks.reserve(self.home, self.name))
        with self.locked():
            network = self.reserve()
            networks.bring_up(self.home, network)
            store = LabStore(self.folder / "store", network)
            store.start()
            return store

    def remove_nodes(self, names: Sequence[str]) -> None:
        """Power these nodes off and delete them; the others do not notice."""
        with self.locked():
            self._raise(each(self._remove, names))
            self._pin_host_keys()

    def stop_nodes(self, names: Sequence[str], patience_s: float = 20.0) -> None:
        """Power these nodes off in order and keep their files; `ensure` boots them again."""
        with self.locked():
            self._raise(each(lambda name: machines.stop(self.machine(name), patience_s), names))

    def destroy(self) -> None:
        """Leave nothing of the lab (process, mount, group, interface, table, file), readable or half made."""
        with self.locked():
            self._raise(each(self._remove, sorted({*self.node_names(), *self._running()})))
            NodeGroups(self.key).remove()
            stores.stop(self.key)
            networks.tear_down(self.home, self.name)
            remove_tree(self.folder)

    def node_names(self) -> list[str]:
        """Every node that has a folder."""
        folder = self.folder / "nodes"
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def targets(self, names: Sequence[str]) -> list[Target]:
        """How to reach nodes of this lab."""
        found = []
        for name in names:
            recorded = self.machine(name).record()
            if recorded:
                ssh = self.folder / "ssh"
                known = ssh / "known_hosts"
                found.append(Target(name, recorded["address"], PORT, "root", ssh / "operator_ed25519", known))
        return found

    def status(self) -> LabStatus:
        """What there is, without a lock and without changing anything."""
        try:
            known = state.load(self.home, self.name)
        except Refused:
            known = None
        running = self._running()
        nodes = tuple(self._node_status(name, running) for name in self.node_names())
        return LabStatus(self.name, known.subnet if known else None, nodes)

    def kill(self, node: str) -> None:
        """Cut a node's power."""
        machines.kill(self.machine(node))

    def freeze(self, node: str) -> None:
        """Hang a node; `thaw` lets it go on."""
        machines.freeze(self.machine(node))

    def thaw(self, node: str) -> None:
        machines.thaw(self.machine(node))

    def machine(self, node: str) -> Machine:
        """A node's place on the host, whether or not there is such a node."""
        return Machine(self.key, node, self.folder / "nodes" / node)

    def _running(self) -> Mapping[str, int]:
        prefix = machines.machine_prefix(self.key)
        return {name.removeprefix(prefix): pid for name, pid in running_machines(prefix).items()}

    def _is_as_wanted(
        self, machine: Machine, node: LabNode, around: Surroundings, running: Mapping[str, int]
    ) -> bool:
        if node.name not in running or not machines.is_made_for(machine, node, around):
            return False
        # It may be booting still, or be busy: only one that is silent for long is taken for hung.
        return wait_until_answering(str(node.address), time.monotonic() + _SILENCE_S, repeat(True))

    def _wait(self, machine: Machine, node: LabNode, on_event: OnEvent) -> Finding | None:
        deadline = time.monotonic() + _BOOT_PATIENCE_S
        if wait_until_answering(str(node.address), deadline, machine.watch()):
            on_event(node.name, "answers over SSH")
            return None
        return Finding(
            NODE_DID_NOT_BOOT,
            Where(path=node.name),
            f"node {node.name} did not answer over SSH; its console ends: {machine.console_end()}",
            f"Look at `clusterwright logs {self.name} {node.name}`, then run the same command again",
        )

    def _remove(self, name: str) -> None:
        machine = self.machine(name)
        machines.stop(machine, 0)
        remove_tree(machine.folder)

    def _raise(self, findings: Sequence[Finding]) -> None:
        if findings:
            raise Refused(findings)

    def _pin_host_keys(self) -> None:
        keys = []
        for name in self.node_names():
            machine = self.machine(name)
            recorded = machine.record()
            if recorded:
                keys.append((name, recorded["address"], public_key(machine.host_key)))
        write_known_hosts(self.folder / "ssh" / "known_hosts", keys)

    def _shared_folders(self, shares: Sequence[Share]) -> list[Bind]:
        binds = []
        for share in shares:
            folder = self.folder / "shares" / share.name
            fresh = not folder.exists()
            for directory in ("", *share.directories):
                (folder / directory.strip("/")).mkdir(parents=True, exist_ok=True)
                if fresh and share.open_to_all:
                    (folder / directory.strip("/")).chmod(0o1777)
            binds.append(Bind(folder, share.mount_point))
        return binds

    def _node_status(self, name: str, running: Mapping[str, int]) -> NodeStatus:
        machine = self.machine(name)
        recorded = machine.record()
        if not recorded:
            return NodeStatus(name, "", "half-made")
        if name not in running:
            return NodeStatus(name, recorded["address"], "stopped")
        return NodeStatus(name, recorded["address"], "frozen" if machines.frozen(machine) else "running")

    def _refuse_addresses_outside(self, network: Network, nodes: Sequence[LabNode]) -> None:
        usable = {host for one in network.segments for host in one.network.hosts() if host != one.gateway}
        findings = [
            Finding(
                ADDRESS_OUTSIDE,
                Where(path=node.name),
                f"address {node.address} of {node.name} is not free in the lab's network {network.subnet}",
                "Plan the cluster with the network that this lab reserved",
            )
            for node in nodes
            if node.address not in usable
        ]
        if findings:
            raise Refused(findings)


def list_labs(home: LabHome) -> list[LabStatus]:
    """Every lab of this user; a lab that only bakes an image is not one."""
    names = [name for name in state.names(home) if not name.startswith(BUILDER_PREFIX)]
    return [Lab(home, name).status() for name in names]
