"""A signed archive of simulated packages, as a vendor hands one out that has no repository."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from clusterwright.providers.lab.files import remove_tree, write_atomically
from clusterwright.providers.lab.vendor import key
from clusterwright.providers.lab.vendor.deb import EPOCH, build_deb, deb_digest
from clusterwright.providers.lab.vendor.package import VendorPackage
from clusterwright.providers.lab.vendor.repository import KEY_FILE


def build_archive(
    name: str, members: Mapping[str, VendorPackage], folder: Path, key_home: Path, suffix: str
) -> Path:
    """The archive `name`, its signature and the key in a folder of their own; one that is there stays.

    `members` by their path in it; `suffix` follows its name for that of the signature.
    """
    public = key.public_key(key_home)
    content = [name, suffix, {path: deb_digest(package) for path, package in members.items()}, public]
    made = folder / sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    if made.exists():
        return made / name
    partial = folder / f".{made.name}.{os.getpid()}.partial"
    remove_tree(partial)
    partial.mkdir(parents=True)
    try:
        write_atomically(partial / KEY_FILE, public)
        (partial / name).write_bytes(gzip.compress(_tar(members, folder / "packages"), mtime=EPOCH))
        key.sign_detached(key_home, partial / name, suffix)
        if not made.exists():
            partial.rename(made)
    finally:
        remove_tree(partial)
    return made / name


def _tar(members: Mapping[str, VendorPackage], cache: Path) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        for path, package in sorted(members.items()):
            deb = build_deb(package, cache)
            member = tarfile.TarInfo(path)
            member.size, member.mtime, member.mode = deb.stat().st_size, EPOCH, 0o644
            with deb.open("rb") as stream:
                tar.addfile(member, stream)
    return whole.getvalue()
