"""A vendor's archive as the vendor hands it out: packed, and signed by real gpg."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

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


def sign(ring: Path, file: Path, who: str = VENDOR) -> None:
    gpg(ring, "--local-user", who, "--output", f"{file}.sig", "--detach-sign", str(file))


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
