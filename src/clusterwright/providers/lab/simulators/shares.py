"""Parallel file systems in a node: a mount binds the host's folder that plays the servers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from .hardware import SimulatedNic, SimulatedShare
from .node import Node

_NETWORK_SHARE = 0.7
"""Of the line rate: what one client of a parallel file system commonly reaches."""
_RDMA = ("infiniband", "mrdma", "roce", "efa")


def of_kind(node: Node, kind: str) -> list[SimulatedShare]:
    return [share for share in node.hardware.shares if share.kind == kind]


def mount_points(node: Node, share: SimulatedShare) -> list[str]:
    """Where the share is mounted: what shows files of its folder anywhere but at the folder itself."""
    rows = list(_rows(node))
    places = {(device, root) for device, root, point in rows if point == share.folder}
    return [
        point
        for device, root, point in rows
        for own, top in places
        if device == own and point != share.folder and (root == top or root.startswith(f"{top}/"))
    ]


def mounted_at(node: Node, kind: str, path: str) -> SimulatedShare | None:
    """The share that a path lies in."""
    return next(
        (
            share
            for share in of_kind(node, kind)
            for point in mount_points(node, share)
            if path == point or path.startswith(f"{point}/")
        ),
        None,
    )


def bind(share: SimulatedShare, directory: str, target: str, options: Sequence[str]) -> str:
    """Mount a directory of the share; what is wrong, in the words of mount(8), or nothing."""
    source = f"{share.folder}/{directory.strip('/')}".rstrip("/")
    if not Path(source).is_dir():
        return "No such file or directory"
    command = ["/bin/mount", "--bind", *(["--read-only"] if "ro" in options else []), source, target]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip() or "Invalid argument" if done.returncode else ""


def gigabytes_per_second(node: Node, share: SimulatedShare) -> float:
    """What one node reaches of a share: the cards that it goes over, and whether the servers are slow."""
    gbps = sum(nic.rate_gbps for nic in rails(node, share) if nic.state == "active")
    reached = (gbps or node.hardware.ethernet_gbps) / 8 * _NETWORK_SHARE
    return round(reached / 4 if share.slow else reached, 2)


def rails(node: Node, share: SimulatedShare) -> list[SimulatedNic]:
    """Fabric cards that a share is reached over; none where it is TCP."""
    if share.kind != "lustre":
        return [nic for nic in node.hardware.nics if nic.kind in _RDMA]
    networks = node.setting("lnet") or {}
    network = server_of(node, share).partition("@")[2]
    cards = [card_of(node, name) for name in networks.get(network, ())] if network[:3] != "tcp" else []
    return [card for card in cards if card]


def server_of(node: Node, share: SimulatedShare) -> str:
    """The NID that a Lustre client talks to: the first on a network that it is on."""
    networks = node.setting("lnet") or {}
    nid = next((nid for nid in share.servers if networks.get(nid.partition("@")[2])), share.servers[0])
    return f"{nid.partition('@')[0]}@{share.network}" if share.network else nid


def card_of(node: Node, interface: str) -> SimulatedNic | None:
    """The fabric card that an interface is of: of the same name, else the one that its number counts."""
    cards = [nic for nic in node.hardware.nics if nic.kind in _RDMA]
    named = next((nic for nic in cards if nic.name == interface), None)
    digits = interface[len(interface.rstrip("0123456789")) :]
    return named or (cards[int(digits)] if digits and int(digits) < len(cards) else None)


def _rows(node: Node) -> Iterator[tuple[str, str, str]]:
    """Device, root within it, and mount point of everything that is mounted."""
    for line in node.mounts.read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split()
        yield fields[2], fields[3], fields[4]
