"""What an image has of clusterwright's own, so that it boots over the network: a part of its name."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

HERE = Path(__file__).with_name("files")
MODULE = "clusterwright-image"
"""Of dracut: fetches the image, checks it and makes it the root file system."""


@cache
def digest() -> str:
    """Of every file, by name and content."""
    found = hashlib.sha256()
    for name, content in contents():
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def contents() -> list[tuple[str, bytes]]:
    """Path below the folder, and what is in it."""
    files = sorted(file for file in HERE.rglob("*") if file.is_file())
    return [(str(file.relative_to(HERE)), file.read_bytes()) for file in files]
