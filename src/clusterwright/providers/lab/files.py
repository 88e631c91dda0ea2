"""Files that are either the old ones or the new ones, whatever kills the writer."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path


def write_atomically(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace `path` in one step; on return the text is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        os.fchmod(descriptor, mode)
        stream.write(text)
        stream.flush()
        os.fsync(descriptor)
    partial.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_json(path: Path, document: object) -> None:
    write_atomically(path, json.dumps(document, indent=2, sort_keys=True) + "\n")


def place(root: Path, path: str, text: str, mode: int = 0o644) -> None:
    """Write a file into a root file system that nothing runs in yet."""
    target = root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.write_text(text, encoding="utf-8")
    target.chmod(mode)


def link(root: Path, path: str, to: str) -> None:
    """Place a symbolic link into a root file system that nothing runs in yet."""
    target = root / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.symlink_to(to)


def remove_tree(path: Path) -> None:
    """Delete a folder and all below it; one that is not there is fine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
