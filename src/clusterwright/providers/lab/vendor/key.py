"""The key that signs a lab's repository: made on this machine, kept in its state, good for nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from clusterwright.providers.lab.command import quiet, run
from clusterwright.providers.lab.files import write_atomically

_USER = "clusterwright lab (SIMULATED packages) <lab@clusterwright.invalid>"
_CREATED = "20250101T000000!"
_SIGNED = "20260101T000000!"


def public_key(home: Path) -> str:
    """The armoured public key; the pair is made on the first call."""
    public = home / "public.asc"
    if not public.exists():
        with _keyring() as ring:
            _gpg(ring, _CREATED, "--quick-generate-key", _USER, "ed25519", "sign", "never")
            home.mkdir(parents=True, exist_ok=True, mode=0o700)
            # The public half last: while it is missing, the next call makes a new pair.
            write_atomically(
                home / "secret.asc", _gpg(ring, _CREATED, "--armor", "--export-secret-keys"), 0o600
            )
            write_atomically(public, _gpg(ring, _CREATED, "--armor", "--export"))
    return public.read_text(encoding="utf-8")


def sign(home: Path, release: Path) -> None:
    """`InRelease` and `Release.gpg` beside `Release`."""
    public_key(home)
    folder = release.parent
    with _keyring() as ring:
        _gpg(ring, _CREATED, "--import", str(home / "secret.asc"))
        _gpg(ring, _SIGNED, "--clearsign", "--output", str(folder / "InRelease"), str(release))
        signature = str(folder / "Release.gpg")
        _gpg(ring, _SIGNED, "--armor", "--detach-sign", "--output", signature, str(release))


def sign_detached(home: Path, file: Path, suffix: str = ".asc") -> None:
    """`FILE.asc` beside a file, as dnf looks for it; or what a vendor calls its signatures."""
    public_key(home)
    with _keyring() as ring:
        _gpg(ring, _CREATED, "--import", str(home / "secret.asc"))
        _gpg(ring, _SIGNED, "--armor", "--detach-sign", "--output", f"{file}{suffix}", str(file))


@contextmanager
def _keyring() -> Iterator[Path]:
    """A short path of its own, as the agent's socket has one; the agent ends with it."""
    with TemporaryDirectory(prefix="lab-key-") as folder:
        try:
            yield Path(folder)
        finally:
            quiet(["gpgconf", "--homedir", folder, "--kill", "all"])


def _gpg(ring: Path, time: str, *words: str) -> str:
    argv = ["gpg", "--homedir", str(ring), "--batch", "--quiet", "--yes", "--pinentry-mode", "loopback"]
    return run([*argv, "--passphrase", "", f"--faked-system-time={time}", *words])
