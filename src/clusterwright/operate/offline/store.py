"""Files that were fetched, each under its SHA-256: what is there is right, and is not fetched again."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from clusterwright.event import Event, Report
from clusterwright.operate.offline.apt import Apt, Archive
from clusterwright.operate.program import Failed

_AT_ONCE = 16
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of files named by what is in them."""

    folder: Path

    def file(self, sha256: str) -> Path:
        return self.folder / sha256

    def has(self, sha256: str) -> bool:
        return self.file(sha256).exists()

    def clear(self) -> None:
        """Remove what an interrupted run left half-written. For the one writer."""
        for partial in self.folder.glob(".*"):
            partial.unlink()

    def fetch(self, apt: Apt, archives: Iterable[Archive], report: Report) -> dict[str, str]:
        """Fetch what is missing; the SHA-256 of what could not be had, with the reason."""
        wanted = sorted({archive.sha256: archive for archive in archives}.values())
        missing = [archive for archive in wanted if not self.has(archive.sha256)]
        whole, done = sum(archive.size for archive in missing), 0
        words = f"{len(wanted)} files, {len(wanted) - len(missing)} of them here already"
        report(Event("fetch", "started", f"{words}, {whole // _MIB} MiB to fetch"))
        self.folder.mkdir(parents=True, exist_ok=True)
        failed: dict[str, str] = {}
        for some in _chunks(missing, _AT_ONCE):
            failed |= self._fetch(apt, some)
            done += sum(archive.size for archive in some)
            report(Event("fetch", "progress", f"{done // _MIB} of {whole // _MIB} MiB"))
        return failed

    def take(self, file: Path, *, link: bool = False) -> str:
        """Keep a file of this machine; its SHA-256. `link`: it never changes, and is kept without a copy."""
        digest = sha256_of(file)
        if not self.has(digest):
            self.folder.mkdir(parents=True, exist_ok=True)
            partial = self.folder / f".{digest}.{os.getpid()}"
            (os.link if link else shutil.copyfile)(file, partial)
            partial.rename(self.file(digest))
        return digest

    def _fetch(self, apt: Apt, archives: list[Archive]) -> dict[str, str]:
        """Together; where that fails, each by itself, so that one that is gone costs no other."""
        try:
            self._fetch_all(apt, archives)
            return {}
        except Failed as failed:
            if len(archives) == 1:
                return {archives[0].sha256: str(failed)}
        found: dict[str, str] = {}
        for archive in archives:
            if not self.has(archive.sha256):
                found |= self._fetch(apt, [archive])
        return found

    def _fetch_all(self, apt: Apt, archives: list[Archive]) -> None:
        partial = {archive: self.folder / f".{archive.sha256}.{os.getpid()}" for archive in archives}
        try:
            remote = [archive for archive in archives if not archive.uri.startswith("file:")]
            if remote:
                apt.fetch((archive.uri, partial[archive], archive.sha256) for archive in remote)
            for archive, file in partial.items():
                if archive not in remote:
                    _copy(Path(unquote(urlsplit(archive.uri).path)), file)
                if sha256_of(file) != archive.sha256:
                    raise Failed(f"{archive.uri} is not what its index says")
            for archive, file in partial.items():
                file.rename(self.file(archive.sha256))
        finally:
            for file in partial.values():
                file.unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise Failed(f"{source}: {error.strerror}") from error


def sha256_of(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _chunks(rows: list[Archive], size: int) -> Iterator[list[Archive]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
