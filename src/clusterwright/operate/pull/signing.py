"""OpenSSH signatures. The key that signs pointers is the operator's and never leaves this machine."""

from __future__ import annotations

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from clusterwright.finding import Where, refuse
from clusterwright.operate.home import ClusterHome

_KEY, _NEXT, _REVOKED = "signing_ed25519", "next_ed25519", "revoked.pub"


@dataclass(frozen=True, slots=True)
class Signing:
    """A cluster's signing keys. A person may put `next_ed25519` (with its `.pub`) and `revoked.pub` there."""

    folder: Path

    @classmethod
    def of(cls, home: ClusterHome) -> Signing:
        signing = cls(home.keys)
        signing._make()
        return signing

    @property
    def key(self) -> Path:
        return self.folder / _KEY

    @property
    def public(self) -> str:
        return _public(self.key.with_suffix(".pub").read_text())

    @property
    def next(self) -> str | None:
        """What nodes are to trust as well from now on."""
        file = self.folder / f"{_NEXT}.pub"
        return _public(file.read_text()) if file.exists() else None

    @property
    def revoked(self) -> tuple[str, ...]:
        """What nodes are never to trust again: a public key a line."""
        file = self.folder / _REVOKED
        lines = file.read_text().splitlines() if file.exists() else []
        return tuple(sorted({_public(line) for line in lines if line.strip()}))

    def envelope(self, text: str, namespace: str) -> str:
        """Text and signature in one file, so that no reader sees the one without the other."""
        argv = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(self.key), "-n", namespace]
        done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            what = f"ssh-keygen could not sign: {done.stderr.strip()}"
            raise refuse("CW8051", Where(str(self.key)), what, "Repair the key's file, then run this again")
        return json.dumps({"signed": text, "signature": done.stdout})

    def _make(self) -> None:
        if self.key.exists():
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as fresh:
            made = Path(fresh) / _KEY
            argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "clusterwright", "-f", str(made)]
            subprocess.run(argv, check=True, capture_output=True)
            made.with_suffix(".pub").rename(self.key.with_suffix(".pub"))
            made.rename(self.key)


def signed_by(envelope: str, key: str, namespace: str) -> str | None:
    """The text of an envelope that this public key signed; None for any other."""
    try:
        body = json.loads(envelope)
        text, signature = str(body["signed"]), str(body["signature"])
    except (ValueError, KeyError, TypeError):
        return None
    with tempfile.TemporaryDirectory() as folder:
        allowed, file = Path(folder, "allowed"), Path(folder, "signature")
        allowed.write_text(f'signer namespaces="{namespace}" {_public(key)}\n')
        file.write_text(signature)
        argv = ["ssh-keygen", "-q", "-Y", "verify", "-f", str(allowed), "-I", "signer"]
        argv += ["-n", namespace, "-s", str(file)]
        done = subprocess.run(argv, input=text, capture_output=True, text=True, check=False)
    return text if done.returncode == 0 else None


def _public(line: str) -> str:
    """Kind and key, without the comment."""
    return " ".join(line.split()[:2])
