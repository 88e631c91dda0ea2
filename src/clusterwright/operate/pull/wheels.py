"""The Python packages that run the roles on a node: fetched once by pip, by the hashes of the lock file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from pathlib import Path

from clusterwright.bundle.collection import root
from clusterwright.finding import Where, refuse
from clusterwright.operate.home import write_atomically
from clusterwright.operate.pip import download
from clusterwright.operate.program import Failed
from clusterwright.providers.lab.home import LabHome

NEEDED = (
    "ansible-core",
    "cffi",
    "cryptography",
    "jinja2",
    "markupsafe",
    "packaging",
    "pycparser",
    "pyrage",
    "pyyaml",
    "resolvelib",
)
"""ansible-core and everything that it requires, a test compares; and pyrage, which opens a node's secrets."""
NEEDED_TO_PROVE = ("annotated-types", "pydantic", "pydantic-core", "typing-extensions", "typing-inspection")
"""What the gates of a cluster need beside those; a test compares."""
_GLIBC = ("2_17", "2_28", "2_34")
"""Of manylinux wheels: Debian 12, Ubuntu 22.04 and Enterprise Linux 9 have glibc 2.34 or later."""


def lock(needed: Collection[str] = NEEDED) -> str:
    """The rows of the lock file that a node needs."""
    text = (root() / "requirements.lock").read_text(encoding="utf-8")
    rows = re.split(r"(?m)^(?=[a-z0-9])", text)
    return "".join(row for row in rows if row.partition("=")[0].strip() in needed)


def wheels(python: str, machine: str, needed: Collection[str] = NEEDED) -> dict[str, Path]:
    """By name; for a Python such as 3.13 on a processor such as x86_64."""
    wanted = lock(needed)
    key = hashlib.sha256(f"{python} {machine}\n{wanted}".encode()).hexdigest()[:16]
    folder = LabHome.of_user().cache.parent / "wheels" / key
    complete = folder / "complete"
    if not complete.exists():
        _download(folder, wanted, python, machine)
        write_atomically(complete, "")
    return {file.name: file for file in sorted(folder.glob("*.whl"))}


def _download(folder: Path, wanted: str, python: str, machine: str) -> None:
    requirements = folder / "requirements.lock"
    write_atomically(requirements, wanted)
    platforms = [f"--platform=manylinux_{glibc}_{machine}" for glibc in _GLIBC]
    try:
        download(requirements, folder, ["--implementation=cp", f"--python-version={python}", *platforms])
    except Failed as failed:
        what = f"pip could not fetch the nodes' wheels: {' '.join(str(failed).split())}"
        remedy = "Repair the cause and run the same command again, or write `converge: push`"
        raise refuse("CW8052", Where(str(requirements)), what, remedy) from failed
