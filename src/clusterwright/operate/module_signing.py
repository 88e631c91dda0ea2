"""The key that signs kernel modules, read from beside the description, or made for a lab."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clusterwright.bundle.signing import wanted
from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Handoff

_CODE = "CW8061"
_FORM = "Give a private key as PEM without a passphrase, readable for you alone, and its certificate as PEM"
_PLAYED = "/CN=SIMULATED module signing key of a clusterwright lab/"


@dataclass(frozen=True, slots=True)
class SigningPair:
    """A private key, and the certificate that a machine's firmware knows."""

    key: bytes
    certificate: str


def signing_pair(handoff: Handoff, folder: Path, keys: Path) -> SigningPair | None:
    """None where none is wished for. Raises Refused with everything that is wrong with the two files."""
    named = wanted(handoff)
    if named is None:
        return None
    if shutil.which("openssl") is None:
        what = "openssl is not installed, which tells whether key and certificate belong together"
        raise Refused([Finding(_CODE, Where(path="openssl"), what, "Install the package openssl")])
    if any(site["simulated"] for site in handoff.site.values()):
        key, certificate = _played(keys)
    else:
        key, certificate = folder / named["key"], folder / named["certificate"]
        if wrong := list(_wrong(key, certificate, named["key"], named["certificate"])):
            raise Refused(wrong)
    return SigningPair(key.read_bytes(), certificate.read_text())


def _wrong(key: Path, certificate: Path, key_name: str, certificate_name: str) -> Iterator[Finding]:
    for path, name in ((key, key_name), (certificate, certificate_name)):
        if not path.is_file():
            yield Finding("CW8004", Where(name), "cannot be read", "Put it beside the description")
    if not (key.is_file() and certificate.is_file()):
        return
    if key.stat().st_mode & 0o077:
        what = "others than you can read this private key"
        yield Finding(_CODE, Where(key_name), what, f"Run `chmod 0600 {key_name}`")
    mine = _public("pkey", "-in", str(key), "-passin", "pass:", "-pubout")
    theirs = _public("x509", "-in", str(certificate), "-noout", "-pubkey")
    if not mine:
        yield Finding(_CODE, Where(key_name), "is no private key that openssl can use", _FORM)
    if not theirs:
        yield Finding(_CODE, Where(certificate_name), "is no certificate that openssl can read", _FORM)
    if mine and theirs and mine != theirs:
        what = f"is not the certificate of {key_name}: their public keys differ"
        yield Finding(_CODE, Where(certificate_name), what, _FORM)


def _public(*arguments: str) -> bytes:
    done = subprocess.run(["openssl", *arguments], capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return b"" if done.returncode else done.stdout


def _played(folder: Path) -> tuple[Path, Path]:
    """A lab is given no secret of a site: it has a key of its own, made once."""
    key, certificate = folder / "module-signing.key", folder / "module-signing.pem"
    if not (key.exists() and certificate.exists()):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = ["-keyout", str(key), "-out", str(certificate)]
        argv = ["openssl", "req", "-new", "-x509", "-nodes", "-newkey", "rsa:2048", "-days", "3650"]
        subprocess.run([*argv, "-subj", _PLAYED.rstrip("/"), *made], capture_output=True, check=True)
        key.chmod(0o600)
    return key, certificate
