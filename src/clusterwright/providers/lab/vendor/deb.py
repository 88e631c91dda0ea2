"""A .deb of a package, by dpkg-deb; the same bytes for the same package."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.files import remove_tree
from clusterwright.providers.lab.vendor.package import VendorPackage

EPOCH = 1767225600
"""2026-01-01: every time stamp inside."""


def build_deb(package: VendorPackage, cache: Path) -> Path:
    """The package's file, made once and kept under the digest of all that it is made of."""
    name = deb_digest(package)
    made = cache / f"{name}.deb"
    if made.exists():
        return made
    cache.mkdir(parents=True, exist_ok=True)
    root = cache / f".{name}.{os.getpid()}"
    try:
        _write_tree(root, package)
        partial = root.with_suffix(".deb.partial")
        environ = dict(os.environ, SOURCE_DATE_EPOCH=str(EPOCH))
        # Not compressed: they are small, and a lab installs them at once.
        run(["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(root), str(partial)], environ=environ)
        partial.rename(made)
    finally:
        remove_tree(root)
    return made


def deb_digest(package: VendorPackage) -> str:
    """Names what it carries and what is written around that."""
    return sha256(f"{package.digest}\n{control(package)}".encode()).hexdigest()


def control(package: VendorPackage) -> str:
    """The control file, whose description says twice that it is simulated."""
    fields = {
        "Package": package.name,
        "Version": package.version,
        "Architecture": package.architecture,
        "Maintainer": "clusterwright lab <lab@clusterwright.invalid>",
        "Depends": ", ".join(package.depends),
        "Provides": ", ".join(package.provides),
        "Conflicts": ", ".join(package.conflicts),
        "Section": "misc",
        "Priority": "optional",
        "Description": f"{package.description}\n Not the vendor's software; refuses all but lab nodes.",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def compile_library(source: str, version: str, target: Path, *defines: str) -> None:
    """A shared library of the machine that builds it: the nodes of its labs have the same processor."""
    soname = target.name.partition(".so")[0] + ".so.1"
    target.parent.mkdir(parents=True, exist_ok=True)
    options = ["-shared", "-fPIC", "-O2", "-std=gnu11", "-D_GNU_SOURCE", f'-DVERSION="{version}"', *defines]
    run(["gcc", *options, f"-Wl,-soname,{soname}", "-x", "c", "-o", str(target), "-"], stdin=source)


def _write_tree(root: Path, package: VendorPackage) -> None:
    write_tree(root, package)
    _write(root / "DEBIAN" / "control", control(package), 0o644)
    for name, text in package.scripts().items():
        _write(root / "DEBIAN" / name, text, 0o755)


def write_tree(root: Path, package: VendorPackage) -> None:
    """Everything that the package brings, below a root."""
    remove_tree(root)
    for path, (mode, text) in package.files().items():
        target = root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        if mode:
            _write(target, text, mode)
        else:
            target.symlink_to(text)
    for path, source in package.libraries().items():
        compile_library(source, package.upstream, root / path.lstrip("/"))
    for folder, _, _ in os.walk(root):
        Path(folder).chmod(0o755)


def _write(path: Path, text: str, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    path.chmod(mode)
