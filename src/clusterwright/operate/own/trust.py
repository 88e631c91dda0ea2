"""What opens a cluster's own machines, and what they are known by: a key pair and an authority."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from clusterwright.operate.home import ClusterHome, write_atomically


@dataclass(frozen=True, slots=True)
class Trust:
    """The operator's side: private keys never leave this machine."""

    home: ClusterHome

    @property
    def key(self) -> Path:
        """Opens the machines."""
        return _pair(self.home.keys / "machines_ed25519", f"clusterwright {self.home.name}")

    @property
    def authority(self) -> Path:
        """Certifies their host keys."""
        return _pair(self.home.keys / "hosts_ed25519", f"clusterwright {self.home.name} hosts")

    @property
    def known_hosts(self) -> Path:
        """One line, however many machines there are: a certificate names the machine that it is of."""
        file = self.home.root / "known_hosts"
        line = f"@cert-authority * {self.authority.with_suffix('.pub').read_text().strip()}\n"
        if not file.exists() or file.read_text() != line:
            write_atomically(file, line)
        return file


def _pair(path: Path, comment: str) -> Path:
    """Made once, also by two who begin at the same moment; the public half follows from the private one."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as fresh:
            made = Path(fresh) / path.name
            _ssh_keygen("-t", "ed25519", "-N", "", "-C", comment, "-f", str(made))
            with suppress(FileExistsError):
                path.hardlink_to(made)
    public = path.with_suffix(".pub")
    if not public.exists():
        write_atomically(public, _ssh_keygen("-y", "-f", str(path)))
    return path


def _ssh_keygen(*words: str) -> str:
    return subprocess.run(["ssh-keygen", "-q", *words], check=True, capture_output=True, text=True).stdout
