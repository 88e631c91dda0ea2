"""The operator's key, by gpg: a name in their keyring, or a file with the secret key."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir

from clusterwright.finding import Refused, Where, refuse
from clusterwright.operate.program import Failed, run

_RING = "clusterwright-key-"
_GPG = ("gpg", "--batch", "--yes", "--quiet", "--no-tty")


@dataclass(frozen=True, slots=True)
class Signer:
    """A key that can sign, found before anything is fetched."""

    gpg: tuple[str, ...]
    fingerprint: str

    def public(self) -> str:
        return run([*self.gpg, "--armor", "--export", self.fingerprint])

    def clear(self, file: Path, signed: Path) -> None:
        self._sign("--clearsign", file, signed)

    def detached(self, file: Path, signature: Path) -> None:
        self._sign("--detach-sign", file, signature)

    def _sign(self, how: str, file: Path, output: Path) -> None:
        argv = [*self.gpg, "--local-user", self.fingerprint, "--armor", how, "--output", str(output)]
        try:
            run([*argv, str(file)])
        except Failed as failed:
            raise _unusable(self.fingerprint, str(failed)) from failed


@contextmanager
def signer(key: str | None) -> Iterator[Signer]:
    """Raises Refused where there is no such key."""
    if key and Path(key).is_file():
        _forget()
        with TemporaryDirectory(prefix=f"{_RING}{os.getpid()}-") as ring:
            gpg = (*_GPG, "--homedir", ring)
            try:
                yield Signer(gpg, _imported(gpg, key))
            finally:
                run(["gpgconf", "--homedir", ring, "--kill", "all"])
    else:
        yield Signer(_GPG, _secret(_GPG, key or "your gpg keyring", key or ""))


def _forget() -> None:
    """Keys that runs which were killed left imported."""
    for ring in Path(gettempdir()).glob(f"{_RING}*"):
        owner = ring.name.removeprefix(_RING).partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists() and ring.stat().st_uid == os.getuid():
            rmtree(ring, ignore_errors=True)


def fingerprints(key: Path) -> set[str]:
    """Of a public key's file; none for what is no key."""
    try:
        text = run([*_GPG, "--with-colons", "--show-keys", str(key)])
    except Failed:
        return set()
    return {line.split(":")[9] for line in text.splitlines() if line.startswith("fpr:")}


def _imported(gpg: tuple[str, ...], file: str) -> str:
    try:
        run([*gpg, "--import", file])
    except Failed as failed:
        raise _unusable(file, str(failed)) from failed
    return _secret(gpg, file, "")


def _secret(gpg: tuple[str, ...], named: str, key: str) -> str:
    try:
        text = run([*gpg, "--with-colons", "--list-secret-keys", *(["--", key] if key else [])])
    except Failed as failed:
        raise _unusable(named, str(failed)) from failed
    found = [line.split(":")[9] for line in text.splitlines() if line.startswith("fpr:")]
    if not found:
        raise _unusable(named, "no secret key")
    return found[0]


def _unusable(key: str, reason: str) -> Refused:
    remedy = "Make one with `gpg --quick-generate-key NAME`, or name another with --key"
    what = f"there is no key that signs: {' '.join(reason.split())}"
    return refuse("CW8021", Where(path=key), what, remedy)
