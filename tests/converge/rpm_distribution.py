"""A mirror of Rocky Linux, signed package by package: Rocky's names, and nothing inside. SIMULATED."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clusterwright.providers.lab.vendor.package import VendorPackage
from clusterwright.providers.lab.vendor.rpm import build_rpm, file_name

REPOSITORIES = ("BaseOS", "AppStream", "CRB", "extras")


def package(
    name: str,
    *,
    version: str = "1-1.el9",
    provides: tuple[str, ...] = (),
    carries: tuple[str, ...] = (),
) -> VendorPackage:
    """One of the distribution's name, with nothing else inside than it `carries`."""
    return VendorPackage(name, version, "distribution", provides=provides, carries=carries)


IDENTITY = (
    package(
        "rocky-release",
        version="9.6-1.el9",
        provides=("system-release = 9",),
    ),
    package("bash", provides=("/bin/sh",)),
)
"""What makes dnf take the machine for a Rocky 9, and what every package with a script needs."""


@dataclass(frozen=True)
class Site:
    """A mirror of the distribution, signed package by package, and the public key."""

    folder: Path
    key: str


def mirror(folder: Path, packages: Iterable[VendorPackage], cache: Path) -> Site:
    """Everything lies in BaseOS; the other repositories are there and empty: their .repo file names them."""
    with _signing() as home:
        for name in REPOSITORIES:
            made = folder / "9" / name / "x86_64" / "os"
            made.mkdir(parents=True)
            if name == "BaseOS":
                _fill(made, packages, cache, home)
            _run("createrepo_c", "--quiet", "--no-database", str(made))
        key = _run("gpg", "--homedir", str(home), "--armor", "--export")
    return Site(folder, key)


def _fill(folder: Path, packages: Iterable[VendorPackage], cache: Path, home: Path) -> None:
    for each in packages:
        shutil.copy(build_rpm(each, cache), folder / file_name(each))
    settings = {"__gpg": shutil.which("gpg"), "_gpg_path": str(home), "_gpg_name": "rocky"}
    defines = [word for name, value in settings.items() for word in ("--define", f"{name} {value}")]
    _run("rpmsign", "--addsign", *defines, *map(str, sorted(folder.glob("*.rpm"))))


@contextmanager
def _signing() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rpm-key-") as name:
        home = Path(name)
        argv = [
            "--batch",
            "--quiet",
            "--passphrase",
            "",
            "--quick-generate-key",
            "rocky",
            "rsa3072",
            "sign",
            "never",
        ]
        _run("gpg", "--homedir", name, *argv)
        try:
            yield home
        finally:
            _run("gpgconf", "--homedir", name, "--kill", "all")


def _run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (argv[0], done.stderr)
    return done.stdout
