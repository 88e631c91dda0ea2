"""Whether a file is the one that its vendor signed, or whose digest a source tells."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from clusterwright.operate.offline.store import sha256_of
from clusterwright.operate.program import Failed, run

_GPG = ("gpg", "--batch", "--yes", "--quiet", "--no-tty", "--no-autostart")
_PRIMARY = 11
"""Words before the primary key's fingerprint in gpg's status line VALIDSIG."""


def wrong_digest(file: Path, sha256: str) -> str:
    """What is wrong with it; empty where nothing is."""
    found = sha256_of(file)
    return "" if found == sha256 else f"its SHA-256 is {found}, and not {sha256}"


def wrong_signature(file: Path, signature: Path, key: Path, fingerprint: str) -> str:
    """What is wrong with it; empty where exactly this key signed it, whatever others `key` holds."""
    with TemporaryDirectory(prefix="vendor-signature-") as ring:
        gpg = [*_GPG, "--homedir", ring]
        try:
            run([*gpg, "--import", str(key)])
            told = run([*gpg, "--status-fd", "1", "--verify", str(signature), str(file)])
        except Failed as failed:
            return " ".join(str(failed).split())
    lines = (line.split() for line in told.splitlines() if line.startswith("[GNUPG:] VALIDSIG "))
    signers = [words[_PRIMARY] for words in lines]
    if signers == [fingerprint]:
        return ""
    return f"it is signed by {', '.join(signers) or 'nobody'}, and not by {fingerprint}"
