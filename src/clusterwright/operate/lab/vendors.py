"""Packages that a lab plays: of vendors, and of what no container can use."""

from __future__ import annotations

import platform

from clusterwright.plan.model import Mirror
from clusterwright.plan.software import DISTRIBUTION, Lock
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.vendor.contents import Wanted, packages
from clusterwright.providers.lab.vendor.repository import KEY_FILE, build

VENDOR_FOLDER = "/run/simulated-vendors"
"""Where a node sees the repositories of simulated packages."""
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Of a machine in Debian's words."""
_PLAYED = ("kernel", "ceph")
"""No container boots a kernel or mounts CephFS: what the distribution carries for that is played, too."""


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
        if row.repository != DISTRIBUTION or component in _PLAYED
        for package, version in row.packages.items()
    ]


def host_architecture() -> str:
    """In Debian's words."""
    return _ARCHITECTURES[platform.machine()]
