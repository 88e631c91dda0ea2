"""The finished bundle: one folder, named by what is in it, that any web server can serve."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path

from clusterwright.operate.home import write_atomically
from clusterwright.operate.offline.signing import Signer
from clusterwright.operate.offline.store import Store, sha256_of
from clusterwright.operate.program import Failed, run

KEY_FILE = "key.asc"
MANIFEST = "MANIFEST.json"
_UNSIGNED_BY_MANIFEST = {MANIFEST, f"{MANIFEST}.asc", "InRelease", "Release.gpg"}
_ONLY_SHA256 = tuple(
    word for name in ("MD5", "SHA1", "SHA512") for word in ("-o", f"APT::FTPArchive::{name}=false")
)


@dataclass
class Contents:
    """What a bundle is to hold."""

    cluster: str
    distribution: str
    architectures: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict)
    """Path in the bundle → SHA-256 in the store."""
    missing: set[str] = field(default_factory=set)
    date: int = 0
    """When the newest index of the distribution was made: the bundle is as old as what it is made of."""

    def digest(self, key: str) -> str:
        content = [self.cluster, self.distribution, self.architectures, self.files, sorted(self.missing)]
        return hashlib.sha256(json.dumps([*content, key], sort_keys=True).encode()).hexdigest()[:16]


def publish(contents: Contents, store: Store, out: Path, signer: Signer) -> Path:
    """Its folder; one that is there already is not made again."""
    key = signer.public()
    made = out / contents.digest(key)
    if made.exists():
        return made
    partial = out / ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for path, digest in sorted(contents.files.items()):
        _link(store.file(digest), partial / path)
    write_atomically(partial / KEY_FILE, key)
    _index(partial, contents, store.folder.parent / "ftparchive.db")
    signer.clear(partial / "Release", partial / "InRelease")
    signer.detached(partial / "Release", partial / "Release.gpg")
    write_atomically(partial / MANIFEST, _manifest(partial, contents))
    signer.detached(partial / MANIFEST, partial / f"{MANIFEST}.asc")
    partial.rename(made)
    return made


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    target.chmod(0o644)


def _index(folder: Path, contents: Contents, database: Path) -> None:
    """A flat repository over every package, wherever in the folder it lies."""
    packages = _packages(folder, database).encode()
    files = {"Packages": packages, "Packages.gz": gzip.compress(packages, mtime=0)}
    for name, data in files.items():
        write_atomically(folder / name, data)
    rows = "".join(
        f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n" for name, data in sorted(files.items())
    )
    fields: Mapping[str, str] = {
        "Origin": "clusterwright offline bundle",
        "Label": contents.cluster,
        "Suite": contents.distribution,
        "Date": formatdate(contents.date, usegmt=True),
        "Architectures": " ".join(contents.architectures),
        "Acquire-By-Hash": "no",
    }
    head = "".join(f"{name}: {value}\n" for name, value in fields.items())
    write_atomically(folder / "Release", f"{head}SHA256:\n{rows}")


def _packages(folder: Path, database: Path) -> str:
    """`database` remembers what was read before; one that a kill damaged is made again."""
    argv = ["apt-ftparchive", *_ONLY_SHA256, "--db", str(database.resolve()), "packages", "."]
    try:
        return run(argv, folder=folder)
    except Failed:
        database.unlink(missing_ok=True)
        return run(argv, folder=folder)


def _manifest(folder: Path, contents: Contents) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    body = {
        "schema": 1,
        "cluster": contents.cluster,
        "distribution": contents.distribution,
        "architectures": contents.architectures,
        "missing": sorted(contents.missing),
        "files": {
            str(file.relative_to(folder)): {"sha256": sha256_of(file), "size": file.stat().st_size}
            for file in files
            if str(file.relative_to(folder)) not in _UNSIGNED_BY_MANIFEST
        },
    }
    return json.dumps(body, indent=1, sort_keys=True) + "\n"
