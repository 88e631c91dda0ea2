"""A vendor's archive as the vendor hands it out: packed, and signed by real gpg."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from clusterwright.operate.offline.signing import fingerprints
from clusterwright.plan.software.lock import Source

EFA_ARCHIVE = "aws-efa-installer-1.51.0.tar.gz"
VENDOR, STRANGER = "vendor@example.com", "stranger@example.com"


@contextmanager
def keyring(folder: Path) -> Iterator[Path]:
    """With the keys of a vendor and of somebody else."""
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    for who in (VENDOR, STRANGER):
        gpg(folder, "--passphrase", "", "--quick-generate-key", who, "ed25519", "sign", "never")
    yield folder
    subprocess.run(["gpgconf", "--homedir", str(folder), "--kill", "all"], check=True)


def gpg(ring: Path, *words: str) -> None:
    argv = ["gpg", "--homedir", str(ring), "--batch", "--yes", "--quiet", *words]
    subprocess.run(argv, check=True, capture_output=True)


def publish_key(ring: Path, file: Path, *whose: str) -> None:
    gpg(ring, "--armor", "--output", str(file), "--export", *whose)


def sign(ring: Path, file: Path, who: str = VENDOR, suffix: str = ".sig") -> None:
    armour = ["--armor"] if suffix == ".asc" else []
    gpg(ring, *armour, "--local-user", who, "--output", f"{file}{suffix}", "--detach-sign", str(file))


def archive(members: Mapping[str, bytes], links: Mapping[str, str]) -> bytes:
    """Of files with their content, and of symbolic links."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for name, target in links.items():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    return whole.getvalue()


def published(folder: Path, members: Mapping[str, bytes]) -> Source:
    """Amazon's archive with these members, its signature and its key, where a lock finds them."""
    file, key = folder / EFA_ARCHIVE, folder / "efa.key"
    file.write_bytes(archive(members, {}))
    with keyring(folder / "ring") as ring:
        publish_key(ring, key, VENDOR)
        sign(ring, file)
    [fingerprint] = fingerprints(key)
    return Source(file.as_uri(), "", (), key.as_uri(), fingerprint)
