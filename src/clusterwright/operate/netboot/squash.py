"""A root file system as one file that machines run from memory, and what starts it beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from clusterwright.operate.netboot.files import HERE
from clusterwright.operate.netboot.stock import FILES
from clusterwright.providers.lab.command import run


def pack(layers: Sequence[Path], to: Path) -> Mapping[str, str]:
    """Name → SHA-256 of the files that it made. The mount ends with the process, whatever ends that."""
    inside = ["unshare", "--mount", "--propagation", "private", "sh", str(HERE / "pack")]
    run([*inside, ":".join(map(str, layers)), str(to)])
    return {name: _sha256(to / name) for name in FILES}


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
