"""Package files out of a verified archive, kept under their SHA-256; nothing else of it is written."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO

from clusterwright.bundle.archives import PackageFile
from clusterwright.operate.offline.store import Store

_BLOCK = 1 << 20


class Unreadable(Exception):
    """It is no archive, or a damaged one."""


def unpacked(file: Path, patterns: Sequence[str], store: Store) -> tuple[PackageFile, ...]:
    """The members that fit a pattern, by name. Raises Unreadable."""
    try:
        with tarfile.open(file) as tar:
            found = {
                one.name: one
                for member, stream in _packages(tar, patterns)
                for one in (_kept(PurePosixPath(member).name, stream, store),)
            }
    except (tarfile.TarError, EOFError, OSError) as error:
        raise Unreadable(str(error)) from error
    return tuple(found[name] for name in sorted(found))


def single(file: Path, store: Store) -> tuple[PackageFile, ...]:
    """A package that came by itself."""
    digest = store.take(file)
    return (PackageFile(file.name, digest, file.stat().st_size),)


def _packages(tar: tarfile.TarFile, patterns: Sequence[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """Only content is read, and only of plain files: no name, link or mode of the archive has any effect."""
    for member in tar:
        name = member.name.removeprefix("./")
        stream = tar.extractfile(member) if member.isreg() and _fits(name, patterns) else None
        if stream:
            with stream:
                yield name, stream


def _fits(name: str, patterns: Sequence[str]) -> bool:
    """Folder by folder: a `*` never reaches into another."""
    parts = name.split("/")
    return any(
        len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
        for wanted in (pattern.split("/") for pattern in patterns)
    )


def _kept(name: str, stream: IO[bytes], store: Store) -> PackageFile:
    store.folder.mkdir(parents=True, exist_ok=True)
    partial = store.folder / f".{name}.{os.getpid()}"
    try:
        with partial.open("wb") as target:
            while block := stream.read(_BLOCK):
                target.write(block)
        return PackageFile(name, store.take(partial, link=True), partial.stat().st_size)
    finally:
        partial.unlink(missing_ok=True)
