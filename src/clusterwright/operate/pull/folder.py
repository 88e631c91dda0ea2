"""A store's files in a folder of this machine."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from clusterwright.operate.home import write_atomically


@dataclass(frozen=True, slots=True)
class Folder:
    """Files under their own names. What is encrypted to a node is nobody else's to read here either."""

    path: Path

    def read(self, name: str) -> bytes | None:
        try:
            return (self.path / name).read_bytes()
        except OSError:
            return None

    def write(self, name: str, content: bytes) -> None:
        mode = 0o600 if name.startswith("secrets/") else 0o644
        write_atomically(self.path / name, content, mode)

    def take(self, name: str, file: Path) -> None:
        target = self.path / name
        partial = target.with_name(f".{target.name}")
        shutil.copyfile(file, partial)
        partial.rename(target)

    def names(self, folder: str) -> set[str]:
        try:
            return {file.name for file in (self.path / folder).iterdir()}
        except FileNotFoundError:
            return set()

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)
