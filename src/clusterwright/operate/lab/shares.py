"""The shares of a cluster in a lab: folders of the host, and what plays the servers of those outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterwright.handoff import Handoff
from clusterwright.providers.lab.model import Share
from clusterwright.providers.lab.simulate import SimulatedShare

_FOLDER = "/run/simulated-shares"
"""Where a node sees the folders that play file systems outside, for its clients to mount."""
_PLAIN = ("served", "nfs")


def with_shares_of_its_own(handoff: Handoff, site: str) -> str:
    """The site, where it mounts anything in place of the cluster's shares; else nothing."""
    return site if site in handoff.storage.get("sites", {}) else ""


def lab_shares(handoff: Handoff, site: str = "") -> list[Share]:
    """Shares of the cluster's own servers are mounted as they are; others wait for their clients."""
    rows = sorted(handoff.shares(site).items())
    own = handoff.storage.get("sites", {}).get(site, {})
    found = [
        Share(f"{site}-{_name(path)}" if path in own else _name(path), path)
        for path, row in rows
        if row["kind"] in _PLAIN
    ]
    outside: dict[str, list[str]] = {}
    for _, row in rows:
        if row["kind"] not in _PLAIN:
            outside.setdefault(_name(_folder(row)), []).append(
                row.get("directory") or row.get("folder") or ""
            )
    return found + [
        Share(name, f"{_FOLDER}/{name}", tuple(filter(None, directories)), open_to_all=True)
        for name, directories in outside.items()
    ]


def shares_of(mounted: Mapping[str, Mapping[str, Any]]) -> tuple[SimulatedShare, ...]:
    """The file systems outside that a node mounts, once each, in the order of their mount points."""
    found = {_folder(row): _played(row) for row in mounted.values() if row["kind"] not in _PLAIN}
    return tuple(found.values())


def _played(row: Mapping[str, Any]) -> SimulatedShare:
    folder = f"{_FOLDER}/{_name(_folder(row))}"
    match row["kind"]:
        case "lustre":
            servers = tuple(nid for entry in row["mgs"] for nid in entry.split(","))
            return SimulatedShare("lustre", row["file_system"], servers, folder)
        case "beegfs":
            return SimulatedShare("beegfs", row["management"], (row["management"],), folder)
        case "s3" | "gcs":
            return SimulatedShare(row["kind"], row["bucket"], (), folder)
        case "weka":
            return SimulatedShare("weka", row["file_system"], tuple(row["backends"]), folder)
        case _:
            servers = tuple(row["monitors"])
            return SimulatedShare("cephfs", row["file_system"], servers, folder, fsid=row["fsid"])


def _folder(row: Mapping[str, Any]) -> str:
    """The same for two mounts of one file system."""
    whose = {"beegfs": "management", "cephfs": "fsid", "s3": "bucket", "gcs": "bucket"}.get(
        row["kind"], "file_system"
    )
    return f"{row['kind']}-{row[whose]}"


def _name(mount_point: str) -> str:
    return mount_point.strip("/").replace("/", "-")
