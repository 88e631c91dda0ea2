"""One node of a lab: an overlay root, a systemd-nspawn machine on the lab's bridge, and their end."""

from __future__ import annotations

import hashlib
import json
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path

from clusterwright.providers.lab import seed, simulate
from clusterwright.providers.lab.cgroup import NodeGroups, group_of, host_runs_systemd
from clusterwright.providers.lab.command import quiet, run
from clusterwright.providers.lab.files import link, place, remove_tree, write_json
from clusterwright.providers.lab.network import Network, nameservers, outward_mtu
from clusterwright.providers.lab.process import MACHINES, machine_of, running_machines, send
from clusterwright.providers.lab.rootfs import mark_updated
from clusterwright.providers.lab.ssh import key_pair, public_key


@dataclass(frozen=True, slots=True)
class LabNode:
    """What a lab is asked to run: a name, its planned address, and the hardware it pretends to have."""

    name: str
    address: IPv4Address
    hardware: simulate.Hardware = field(default_factory=simulate.Hardware)
    user_data: str = ""
    """For cloud-init at the first boot; without it there is nothing for cloud-init to do."""
    simulated: bool = True
    """Whether simulators and what belongs to them are there; not where real machines are made of it."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A folder of the host that a node sees."""

    source: Path
    target: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all nodes of one lab have in common when they boot."""

    network: Network
    layers: tuple[Path, ...]
    binds: tuple[Bind, ...]
    operator: str
    mtu: int = field(default_factory=outward_mtu)


@dataclass(frozen=True, slots=True)
class Machine:
    """A node's place on the host: everything it is can be found from the lab's and the node's names."""

    key: str
    name: str
    folder: Path

    @property
    def machine_name(self) -> str:
        return f"{machine_prefix(self.key)}{self.name}"

    @property
    def upper(self) -> Path:
        return self.folder / "upper"

    @property
    def console(self) -> Path:
        return self.folder / "console.log"

    @property
    def journal(self) -> Path:
        return self.upper / "var" / "log" / "journal"

    @property
    def hardware_folder(self) -> Path:
        return self.folder / "hardware"

    @property
    def host_key(self) -> Path:
        return self.folder / "ssh_host_ed25519_key"

    @property
    def groups(self) -> NodeGroups:
        return NodeGroups(self.key, self.name)

    def record(self) -> Mapping[str, str] | None:
        """What the node's root was prepared for; None for one that is half made."""
        try:
            document = json.loads((self.folder / "node.json").read_text(encoding="utf-8"))
            made_for = str(document.get("network", ""))
            return {
                "address": str(document["address"]),
                "layers": str(document["layers"]),
                "network": made_for,
            }
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def console_end(self) -> str:
        """The last words of the node's console, on one line."""
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        return " ".join(text.split())[-400:] or "(empty)"

    def watch(self) -> Iterator[bool]:
        """Whether the node runs, each time it is asked; cheap while the answer stays yes."""
        pid = self.pid()
        while True:
            if pid is None or machine_of(pid) != self.machine_name:
                pid = self.pid()
            yield pid is not None

    def pid(self) -> int | None:
        """The container manager's process id, when the node runs."""
        return running_machines(self.machine_name).get(self.machine_name)


def machine_prefix(key: str) -> str:
    """Starts the names of a lab's machines; a machine name of systemd's has at most 64 characters."""
    return f"{MACHINES}{key}-"


def prepare(machine: Machine, node: LabNode, around: Surroundings) -> None:
    """Make the node's own layer, unless it is there and was made for the same place."""
    if is_made_for(machine, node, around):
        refresh_hardware(machine, node.hardware)
        return
    remove_tree(machine.folder)
    for part in ("upper", "work", "root"):
        (machine.folder / part).mkdir(parents=True)
    key_pair(machine.host_key, f"root@{node.name}")
    _write_identity(machine, node, around)
    if node.user_data:
        seed.write(machine.upper, node.name, machine.host_key, node.user_data)
    simulate.write_hardware(machine.hardware_folder, node.hardware)
    if node.simulated:
        simulate.install(machine.upper)
    mark_updated(machine.upper)
    lower = ":".join(str(layer) for layer in around.layers)
    made_for = {"address": str(node.address), "network": str(around.network.at(node.address).network)}
    write_json(machine.folder / "node.json", {**made_for, "layers": lower})


def is_made_for(machine: Machine, node: LabNode, around: Surroundings) -> bool:
    """Whether its root was prepared for this address in this network."""
    recorded = machine.record()
    if recorded is None or recorded["address"] != str(node.address):
        return False
    # A lab of one site had no other network than the whole, and did not say so.
    made_for = recorded["network"] or str(around.network.subnet)
    return made_for == str(around.network.at(node.address).network)


def stop(machine: Machine, patience_s: float) -> None:
    """Power the node off, or cut its power when it does not go in time; leaves its files."""
    pid = machine.pid()
    if pid is not None and patience_s > 0:
        thaw(machine)
        send(pid, machine.machine_name, signal.SIGTERM, patience_s)
    kill(machine)
    # The kernel takes a dead node's network apart in its own time; a lab that is gone has no interface left.
    quiet(["ip", "link", "delete", f"vb-{machine.machine_name}"])
    if host_runs_systemd():
        quiet(["systemctl", "stop", machine.machine_name])
    machine.groups.remove()
    # nspawn removes these folders itself only where /run is a tmpfs and nobody killed it.
    for folder in ("propagate", "unix-export"):
        remove_tree(Path("/run/systemd/nspawn", folder, machine.machine_name))


def kill(machine: Machine) -> None:
    """Cut the power: every process of the node ends now."""
    machine.groups.kill()
    pid = machine.pid()
    while pid is not None:
        send(pid, machine.machine_name, signal.SIGKILL, 5.0)
        machine.groups.kill()
        pid = machine.pid()


def freeze(machine: Machine) -> None:
    """Stop all of the node's processes where they are, as a hung machine does."""
    _set_frozen(machine, "1")


def thaw(machine: Machine) -> None:
    _set_frozen(machine, "0")


def frozen(machine: Machine) -> bool:
    group = _group(machine)
    return bool(group) and (group / "cgroup.freeze").read_text().strip() == "1" if group else False


def hardware_of(machine: Machine) -> simulate.Hardware | None:
    """What the node pretends to have now, its faults among it; None when that cannot be read."""
    try:
        text = (machine.hardware_folder / "hardware.json").read_text(encoding="utf-8")
        return simulate.Hardware.from_json(json.loads(text))
    except (OSError, ValueError, TypeError):
        return None


def refresh_hardware(machine: Machine, planned: simulate.Hardware) -> None:
    """Follow a changed plan; a fault stays, as on a real machine, until the node is replaced."""
    current = hardware_of(machine)
    if current is None or current.without_faults() != planned.without_faults():
        set_hardware(machine, planned)


def set_hardware(machine: Machine, hardware: simulate.Hardware) -> None:
    """Change what the node pretends to have, at once when it runs."""
    simulate.write_hardware(machine.hardware_folder, hardware)
    leader = leader_pid(machine)
    if leader is not None:
        run(["nsenter", "-t", str(leader), "-m", "-n", "-p", simulate.ATTACH])


def leader_pid(machine: Machine) -> int | None:
    """The node's own process 1, as the host numbers it."""
    manager = machine.pid()
    if manager is None:
        return None
    for path in Path(f"/proc/{manager}/task").glob("*/children"):
        for child in path.read_text().split():
            status = Path(f"/proc/{child}/status").read_text()
            ids = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
            if len(ids) > 2 and ids[-1] == "1":
                return int(child)
    return None


def _write_identity(machine: Machine, node: LabNode, around: Surroundings) -> None:
    network, root = around.network, machine.upper
    segment = network.at(node.address)
    place(root, "/etc/hostname", f"{node.name}\n")
    place(
        root, "/etc/hosts", f"127.0.0.1 localhost\n::1 localhost ip6-localhost\n{node.address} {node.name}\n"
    )
    identity = hashlib.sha256(f"{network.key}/{node.name}/{node.address}".encode()).hexdigest()[:32]
    place(root, "/etc/machine-id", f"{identity}\n", 0o444)
    place(root, "/etc/resolv.conf", "".join(f"nameserver {address}\n" for address in nameservers()))
    # Must sort before 80-container-host0.network, which asks for DHCP.
    place(
        root, "/etc/systemd/network/10-lab.network",
        "[Match]\nName=host0\n\n"
        f"[Link]\nMTUBytes={around.mtu}\n\n"
        f"[Network]\nAddress={node.address}/{segment.network.prefixlen}\nGateway={segment.gateway}\n"
        "LinkLocalAddressing=no\nIPv6AcceptRA=no\n",
    )  # fmt: skip
    place(root, "/etc/ssh/ssh_host_ed25519_key", machine.host_key.read_text(), 0o600)
    place(root, "/etc/ssh/ssh_host_ed25519_key.pub", f"{public_key(machine.host_key)}\n")
    place(root, "/root/.ssh/authorized_keys", f"{around.operator}\n", 0o600)
    (root / "root").chmod(0o700)
    (root / "root/.ssh").chmod(0o700)
    link(root, "/etc/localtime", "/usr/share/zoneinfo/Etc/UTC")


def _set_frozen(machine: Machine, value: str) -> None:
    group = _group(machine)
    if group:
        (group / "cgroup.freeze").write_text(value)
        until = time.monotonic() + 5
        while f"frozen {value}" not in (group / "cgroup.events").read_text() and time.monotonic() < until:
            time.sleep(0.01)


def _group(machine: Machine) -> Path | None:
    """The v2 group that holds the whole node: nspawn puts itself into a part of it, named `supervisor`."""
    pid = machine.pid()
    group = group_of(pid) if pid is not None else None
    if group is not None and group.name == "supervisor":
        group = group.parent
    if group is None or machine.key not in str(group):
        return None
    return group if (group / "cgroup.freeze").exists() else None
