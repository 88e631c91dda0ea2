"""Python's wheels that clusterwright itself needs, by pip and by the hashes of the lock file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clusterwright.bundle.collection import root
from clusterwright.finding import Finding, Where
from clusterwright.operate import pip
from clusterwright.operate.offline.store import sha256_of
from clusterwright.operate.program import Failed

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def lock_file() -> Path:
    return root() / "requirements.lock"


def download(folder: Path) -> Iterator[Finding]:
    """For this machine's processor and Python; what is there already is looked at and kept."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        pip.download(lock_file(), folder)
    except Failed as failed:
        what = f"pip could not fetch the wheels: {' '.join(str(failed).split())}"
        remedy = "Repair the cause and run the same command again, or leave them out with --no-wheels"
        yield Finding("CW8027", Where(str(lock_file())), what, remedy)


def locked(folder: Path) -> list[Path]:
    """The wheels of the folder that the lock file names."""
    known = set(_HASH.findall(lock_file().read_text(encoding="utf-8")))
    return sorted(file for file in folder.glob("*.whl") if sha256_of(file) in known)
