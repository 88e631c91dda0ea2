"""What kernel clients show of BeeGFS and CephFS: the shape of /proc/fs/beegfs and /sys/kernel/debug/ceph."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from .hardware import Hardware, SimulatedShare

_RDMA = ("infiniband", "mrdma", "roce")
_META = 1
"""Metadata targets; the storage targets are the share's own number, two on a server."""


def tree(hardware: Hardware) -> Mapping[str, str]:
    """`beegfs/…` and `ceph/…` → text. Each planned file system has its client, mounted or not."""
    shows = {"beegfs": _beegfs, "cephfs": _ceph}
    return {
        path: text
        for share in hardware.shares
        if share.kind in shows
        for path, text in shows[share.kind](hardware, share)
    }


def _beegfs(hardware: Hardware, share: SimulatedShare) -> Iterator[tuple[str, str]]:
    """After ProcFsHelper.c of BeeGFS's client module."""
    cards = [nic for nic in hardware.nics if nic.kind in _RDMA and nic.state == "active"]
    fallen = share.network == "tcp" and bool(cards)
    way = "RDMA" if cards and not fallen else "TCP"
    folder = f"beegfs/simulated-{_digest(share)[:8]}"
    storage = [f"{share.name}-storage{number // 2 + 1}" for number in range(share.targets)]
    yield f"{folder}/config", f"cfgFile = \nconnUseRDMA = 1\nsysMgmtdHost = {share.name}"
    interfaces = [f"+ {nic.name}[ip addr: {hardware.address}; type: RDMA]" for nic in cards]
    interfaces.append(f"+ host0[ip addr: {hardware.address}; type: TCP]")
    yield f"{folder}/client_info", "\n".join(["ClientID: simulated", "Interfaces:", *interfaces])
    yield f"{folder}/mgmt_nodes", _server(share, share.name, 1, "TCP", fallen=False)
    meta = _server(share, f"{share.name}-meta1", _META, way, fallen=fallen)
    yield f"{folder}/meta_nodes", meta.replace("\n", "\n   Root: <yes>\n", 1)
    yield (
        f"{folder}/storage_nodes",
        "\n".join(
            _server(share, name, number, way, fallen=fallen)
            for number, name in enumerate(dict.fromkeys(storage), 1)
        ),
    )
    yield f"{folder}/meta_target_state", _target(share, 1, f"{share.name}-meta1", down=False)
    yield (
        f"{folder}/storage_target_state",
        "\n".join(
            _target(share, 101 + number, name, down=number in share.targets_down)
            for number, name in enumerate(storage)
        ),
    )


def _server(share: SimulatedShare, name: str, number: int, way: str, *, fallen: bool) -> str:
    route = " [fallback route]" if fallen else ""
    connections = "<none>" if share.state == "away" else f"{way}: 2 ({share.name}:8003{route}); "
    return f"{name} [ID: {number}]\n   Connections: {connections}"


def _target(share: SimulatedShare, number: int, name: str, *, down: bool) -> str:
    """Without the management service a client does not know of any target whether it is reachable."""
    reachable = "Probably-offline" if share.state == "away" else "Offline" if down else "Online"
    return f"[Target ID: {number}] @ {name} [ID: {number % 100}]: {reachable} / Good "


def _ceph(hardware: Hardware, share: SimulatedShare) -> Iterator[tuple[str, str]]:
    """After fs/ceph/debugfs.c of Linux 6.12."""
    folder = f"ceph/{share.fsid}.client{int(_digest(share)[:4], 16)}"
    blocklisted = "true" if share.state == "evicted" else "false"
    instance = f"instance: client.4711 (3){hardware.address}:0/1"
    yield f"{folder}/status", f"{instance}\nblocklisted: {blocklisted}"
    session = {"away": "hung", "evicted": "rejected"}.get(share.state, "open")
    yield f"{folder}/mds_sessions", f'global_id 4711\nname "simulated"\nmds.0 {session}'


def _digest(share: SimulatedShare) -> str:
    return hashlib.sha256(share.folder.encode()).hexdigest()
