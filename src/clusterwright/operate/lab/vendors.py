"""Packages that a lab plays: of vendors, and of what no container can use."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from clusterwright.catalog.archives import Archive, archive, builds, with_digest
from clusterwright.operate.offline.signing import fingerprints
from clusterwright.operate.offline.store import sha256_of
from clusterwright.plan.model import Mirror
from clusterwright.plan.rehearsal import DISTRIBUTION as BOOTED
from clusterwright.plan.software import DISTRIBUTION, Lock
from clusterwright.plan.software.lock import Source
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.vendor.archive import build_archive
from clusterwright.providers.lab.vendor.contents import Wanted, packages
from clusterwright.providers.lab.vendor.package import VendorPackage
from clusterwright.providers.lab.vendor.repository import KEY_FILE, build
from clusterwright.providers.lab.vendor.source import build_source

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
    beside = {
        **{name: _played(lock, name, home) for name in sorted(_signed_archives(lock))},
        **{name: _played_source(lock, name, home) for name in sorted(lock.repositories) if builds(name)},
    }
    handed_out = {one for name in beside for one in _of(lock, name)}
    made = build(packages(set(wanted) - handed_out, host_architecture()), home.vendor, home.vendor_key)
    return Mirror(f"file:{VENDOR_FOLDER}/{made.name}", "/", (), str(made / KEY_FILE), beside)


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


def _signed_archives(lock: Lock) -> Mapping[str, Mapping[str, Archive]]:
    """By name and architecture. What only a digest verifies cannot be played: it would have another."""
    found = {
        name: {one: known for one in rows if (known := archive(name, lock.distribution, one))}
        for name, rows in lock.repositories.items()
    }
    return {
        name: rows for name, rows in found.items() if rows and all(one.signature for one in rows.values())
    }


def _of(lock: Lock, repository: str) -> list[Wanted]:
    return [
        Wanted(component, row.version, package, version)
        for rows in lock.pools.values()
        for component, row in rows.items()
        if row.repository == repository
        for package, version in row.packages.items()
    ]


def _played(lock: Lock, name: str, home: LabHome) -> Mapping[str, Source]:
    """The vendor's archive with simulated packages where the vendor has its own, signed by the lab's key.

    Also where nodes look of what the lab boots in place of the lock's distribution."""
    made = packages(_of(lock, name), host_architecture())
    known = _signed_archives(lock)[name]
    members = {
        _place(one.members(architecture), package): package
        for architecture, own in known.items()
        for one in (own, archive(name, BOOTED, architecture))
        if one
        for package in made
    }
    file_name = next(iter(lock.repositories[name].values())).url.rpartition("/")[2]
    suffix = next(iter(known.values())).signature
    file = build_archive(file_name, members, home.vendor, home.vendor_key, suffix)
    return {architecture: _source(file) for architecture in known}


def _played_source(lock: Lock, name: str, home: LabHome) -> Mapping[str, Source]:
    """A source of the vendor's name, whose own digest stands in its address."""
    found = {one: archive(name, lock.distribution, one) for one in lock.repositories[name]}
    made = {one.files[0]: build_source(one.files[0], home.vendor) for one in found.values() if one}
    return {
        architecture: Source(with_digest(f"{file.parent.as_uri()}/", sha256_of(file)), "", (), "", None)
        for architecture, one in found.items()
        if one and (file := made[one.files[0]])
    }


def _place(patterns: Iterable[str], package: VendorPackage) -> str:
    """The first folder in which the vendor has such a file; what it does not have lies with the rest."""
    folders = [pattern.rpartition("/") for pattern in patterns]
    fitting = (folder for folder, _, name in folders if fnmatchcase(package.file_name, name))
    return f"{next(fitting, folders[-1][0])}/{package.file_name}"


def _source(file: Path) -> Source:
    key = file.parent / KEY_FILE
    [fingerprint] = fingerprints(key)
    return Source(file.as_uri(), "", (), key.as_uri(), fingerprint)
