"""A signed apt repository of simulated packages, content-addressed: the same packages are the same folder."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Literal

from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.files import remove_tree, write_atomically
from clusterwright.providers.lab.vendor import key
from clusterwright.providers.lab.vendor.deb import EPOCH, build_deb, deb_digest
from clusterwright.providers.lab.vendor.package import VendorPackage
from clusterwright.providers.lab.vendor.rpm import build_rpm, file_name, rpm_digest

Kind = Literal["deb", "rpm"]
KEY_FILE = "key.asc"
_LABEL = "clusterwright lab: SIMULATED packages"


def build(packages: Iterable[VendorPackage], folder: Path, key_home: Path, kind: Kind = "deb") -> Path:
    """A flat repository (`deb [signed-by=…] URL /`, or `baseurl` of dnf) under `folder`; one that is there is
    not made again."""
    wanted = sorted(packages, key=lambda package: (package.name, package.version, package.architecture))
    public = key.public_key(key_home)
    digest_of = deb_digest if kind == "deb" else rpm_digest
    content = [[digest_of(package) for package in wanted], public]
    digest = sha256(json.dumps(content).encode()).hexdigest()[:16]
    made = folder / digest
    if made.exists():
        return made
    partial = folder / f".{digest}.{os.getpid()}.partial"
    remove_tree(partial)
    partial.mkdir(parents=True)
    try:
        write_atomically(partial / KEY_FILE, public)
        if kind == "deb":
            _fill(partial, wanted, folder / "packages")
            key.sign(key_home, partial / "Release")
        else:
            _fill_rpm(partial, wanted, folder / "packages")
            key.sign_detached(key_home, partial / "repodata" / "repomd.xml")
        if not made.exists():
            partial.rename(made)
    finally:
        remove_tree(partial)
    return made


def _fill(folder: Path, packages: list[VendorPackage], cache: Path) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        debs = list(pool.map(lambda package: build_deb(package, cache), packages))
    for package, deb in zip(packages, debs, strict=True):
        os.link(deb, folder / package.file_name)
    index = run(["sh", "-c", 'cd "$1" && exec apt-ftparchive packages .', "sh", str(folder)])
    write_atomically(folder / "Packages", index)
    (folder / "Packages.gz").write_bytes(gzip.compress(index.encode(), mtime=EPOCH))
    write_atomically(folder / "Release", _release(folder))


def _fill_rpm(folder: Path, packages: list[VendorPackage], cache: Path) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(lambda package: build_rpm(package, cache), packages))
    for package, rpm in zip(packages, made, strict=True):
        os.link(rpm, folder / file_name(package))
    stamps = ["--set-timestamp-to-revision", "--revision", str(EPOCH)]
    run(["createrepo_c", "--quiet", "--no-database", "--workers", "1", *stamps, str(folder)])


def _release(folder: Path) -> str:
    options = {"Origin": _LABEL, "Label": _LABEL, "Suite": "lab", "Description": _LABEL}
    argv = [
        word
        for name, value in options.items()
        for word in ("-o", f"APT::FTPArchive::Release::{name}={value}")
    ]
    script = 'cd "$1" && shift && exec apt-ftparchive "$@" release .'
    environ = dict(os.environ, SOURCE_DATE_EPOCH=str(EPOCH))
    text = run(["sh", "-c", script, "sh", str(folder), *argv], environ=environ)
    # apt-ftparchive of some releases writes the time of day whatever SOURCE_DATE_EPOCH says.
    lines = (f"Date: {_DATE}" if line.startswith("Date:") else line for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines)


_DATE = "Thu, 01 Jan 2026 00:00:00 +0000"
