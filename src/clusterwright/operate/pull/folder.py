"""A store's files in a folder of this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from clusterwright.operate.home import write_atomically


@dataclass(frozen=True, slots=True)
class Folder:
    """Files under their own names. What is encrypted to a node is nobody else's to read here either."""

    path: Path
    pause: float = 0.2

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

    def versions(self, folder: str) -> Mapping[str, str]:
        found: dict[str, str] = {}
        with suppress(FileNotFoundError), os.scandir(self.path / folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    seen = entry.stat()
                    found[entry.name] = f"{seen.st_ino} {seen.st_mtime_ns} {seen.st_size}"
        return found

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)
