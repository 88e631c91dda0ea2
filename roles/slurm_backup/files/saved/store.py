"""The folder of one cluster's backups. A backup appears under its name only when all of it is on disk."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
import shutil
from pathlib import Path

from saved.machine import Stop, digest, mounted, sync

VERSION = 1
MANIFEST = "manifest.json"
NAME = re.compile(r"\d{8}T\d{6}Z")
FORMAT = "%Y%m%dT%H%M%SZ"
MOMENT = "%Y-%m-%dT%H:%M:%SZ"


class Store:
    """Folders by the second in which they were begun."""

    def __init__(self, folder: Path, cluster: str, mount: str | None) -> None:
        self.folder, self.cluster, self.mount = folder / cluster, cluster, mount

    def ready(self) -> None:
        """Where the share is not mounted, its folder would be one on the disk that is to be saved."""
        if self.mount and not mounted(self.mount):
            raise Stop(f"{self.mount} is not mounted")

    def path(self, *parts: str) -> Path:
        return self.folder.joinpath(*parts)

    def names(self) -> list:
        with contextlib.suppress(FileNotFoundError):
            return sorted(path.name for path in self.folder.iterdir() if NAME.fullmatch(path.name))
        return []

    def whole(self) -> list:
        return [name for name in self.names() if self.entry(name)["whole"]]

    def manifest(self, name: str) -> dict:
        """Raises Stop for a backup that is not whole; digests are not computed."""
        try:
            found = json.loads(self.path(name, MANIFEST).read_text(encoding="utf-8"))
            if found["version"] != VERSION:
                raise Stop(f"{name} has another form: version {found['version']}")
            for file, row in found["files"].items():
                if self.path(name, file).stat().st_size != row["bytes"]:
                    raise Stop(f"{name} is damaged: {file} has another size than was written")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise Stop(f"{name} is damaged: {error}") from error
        return found

    def entry(self, name: str) -> dict:
        """A line of the list."""
        try:
            found = self.manifest(name)
            size = sum(row["bytes"] for row in found["files"].values())
            kept = {key: found[key] for key in ("taken", "cluster", "release", "jobs")}
        except (Stop, KeyError) as error:
            return {"name": name, "whole": False, "problem": str(error)}
        return {"name": name, "whole": True, "bytes": size, **kept}

    def prove(self, name: str) -> dict:
        """Its manifest, when every byte is the one that was written."""
        found = self.manifest(name)
        for file, row in found["files"].items():
            if digest(self.path(name, file)) != row["sha256"]:
                raise Stop(f"{name} is damaged: {file} is not what was written")
        return found

    def begin(self) -> tuple:
        """Name and folder of a new one, which nobody takes for a backup yet."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self.folder.glob(".*.partial"):  # killed on its way in or out
            shutil.rmtree(left)
        name = self.free_name()
        partial = self.path(f".{name}.partial")
        partial.mkdir(0o700)
        return name, partial

    def free_name(self) -> str:
        """After every other, also where the clock went back: their order is that of their names."""
        now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        for name in self.names()[-1:]:
            now = max(now, datetime.datetime.strptime(name, FORMAT) + datetime.timedelta(seconds=1))
        return now.strftime(FORMAT)

    def finish(self, name: str, partial: Path, parts: list, told: dict) -> None:
        """Everything on disk first, then the name."""
        files = {
            part: {"bytes": (partial / part).stat().st_size, "sha256": digest(partial / part)}
            for part in parts
        }
        taken = datetime.datetime.strptime(name, FORMAT).strftime(MOMENT)
        body = {"version": VERSION, "cluster": self.cluster, "taken": taken, **told, "files": files}
        (partial / MANIFEST).write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
        for part in (*parts, MANIFEST, "."):
            sync(partial / part)
        partial.rename(self.path(name))
        sync(self.folder)

    def prune(self, keep: int) -> None:
        """Damaged ones do not count, so that they push out nothing; they are left for a person to look at."""
        for name in self.whole()[:-keep]:
            leaving = self.path(f".{name}.partial")
            self.path(name).rename(leaving)
            shutil.rmtree(leaving)


def seconds_of(moment: str) -> float:
    read = datetime.datetime.strptime(moment, MOMENT)
    return read.replace(tzinfo=datetime.UTC).timestamp()
