"""A distribution and a vendor of a few bytes, served from a folder, signed with keys of their own."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

from clusterwright.operate.offline.signing import signer

EPOCH = 1767225600


@dataclass(frozen=True)
class Small:
    """One package."""

    name: str
    version: str = "1.0-1"
    depends: str = ""
    essential: bool = False
    architecture: str = "all"

    def build(self, folder: Path) -> None:
        root = folder / f".{self.name}"
        (root / "DEBIAN").mkdir(parents=True)
        control = f"Package: {self.name}\nVersion: {self.version}\nArchitecture: {self.architecture}\n"
        control += "Maintainer: nobody <nobody@example.com>\nDescription: small\n"
        control += f"Depends: {self.depends}\n" if self.depends else ""
        control += "Essential: yes\nPriority: required\n" if self.essential else ""
        (root / "DEBIAN" / "control").write_text(control)
        argv = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(root), str(folder)]
        environ = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH)}
        subprocess.run(argv, check=True, capture_output=True, env=environ)
        subprocess.run(["rm", "-r", str(root)], check=True)


def secret_key(folder: Path, name: str) -> Path:
    """A secret key's file."""
    ring = folder / f"ring-{name}"
    ring.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(ring), "--batch", "--quiet", "--passphrase", ""]
    subprocess.run(
        [*gpg, "--quick-generate-key", f"{name}@example.com", "ed25519", "sign", "never"], check=True
    )
    secret = folder / f"{name}.secret"
    secret.write_bytes(
        subprocess.run([*gpg, "--armor", "--export-secret-keys"], check=True, capture_output=True).stdout
    )
    subprocess.run(["gpgconf", "--homedir", str(ring), "--kill", "all"], check=True)
    return secret


def serve(
    root: Path, packages: Iterable[Small], key: Path, suites: tuple[str, ...], component: str = "main"
) -> None:
    """An archive with all packages in its first suite; `key.asc` beside it."""
    pool = root / "pool"
    pool.mkdir(parents=True)
    with ThreadPoolExecutor(4) as workers:
        list(workers.map(lambda package: package.build(pool), packages))
    with signer(str(key)) as signing:
        (root / "key.asc").write_text(signing.public())
        for number, suite in enumerate(suites):
            index = subprocess.run(
                ["apt-ftparchive", "packages", "pool"], cwd=root, check=True, capture_output=True
            ).stdout
            folder = root / "dists" / suite
            listed = folder / component / "binary-amd64" / "Packages"
            listed.parent.mkdir(parents=True)
            listed.write_bytes(b"" if number else index)
            data = listed.read_bytes()
            path = f"{component}/binary-amd64/Packages"
            release = (
                f"Origin: small\nSuite: {suite}\nCodename: {suite}\nDate: {formatdate(EPOCH, usegmt=True)}\n"
            )
            release += f"Architectures: amd64\nComponents: {component}\n"
            words = folder / component / "i18n" / "Translation-en"
            words.parent.mkdir()
            words.write_bytes(b"")
            empty = f" {hashlib.sha256(b'').hexdigest()} 0 {component}/i18n/Translation-en\n"
            release += f"SHA256:\n {hashlib.sha256(data).hexdigest()} {len(data)} {path}\n{empty}"
            (folder / "Release").write_text(release)
            signing.clear(folder / "Release", folder / "InRelease")
