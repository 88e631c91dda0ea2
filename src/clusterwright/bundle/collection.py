"""Where roles, playbooks and modules are, and the digest of all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_EVERYTHING = ("playbooks", "plugins", "roles")
INSTALL = (
    "playbooks/install.yml",
    "roles/base/tasks/install.yml",
    "roles/base/tasks/packages.yml",
    "roles/nccl_tests/tasks/build.yml",
    "plugins/action/node.py",
    "plugins/modules/hold.py",
    "plugins/modules/nccl_tests.py",
    "plugins/modules/node.py",
    "plugins/module_utils",
)
"""What decides how an image is made: a change elsewhere does not make a new one."""
_NOT_OURS = {"__pycache__", "README.md"}


@cache
def root() -> Path:
    """The collection's root: in the installed package, or the checkout itself."""
    installed = _PACKAGE / "_data"
    return installed if (installed / "roles").is_dir() else _PACKAGE.parents[1]


@cache
def digest(parts: tuple[str, ...] = _EVERYTHING) -> str:
    """Over the content of every file that decides what a run does; documentation does not."""
    kept = sorted(
        {file for part in parts for file in _files(root() / part) if not _NOT_OURS & set(file.parts)}
    )
    whole = hashlib.sha256()
    for file in kept:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{file.relative_to(root())} {content}\n".encode())
    return whole.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    return iter((path,)) if path.is_file() else (file for file in path.rglob("*") if file.is_file())
