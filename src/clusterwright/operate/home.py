"""Where the operator's machine keeps what it knows of a cluster, and the lock that one writer holds.

`$XDG_STATE_HOME/clusterwright/clusters/NAME/`: the description and the hand-off as last applied, the files
rendered from it, keys (0600), runs and reports. Every file is written whole or not at all.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff, loads
from clusterwright.render.file import NodeFile

_SEVERAL = ("roles", "affects", "pools")
"""What a file has several of; JSON knows no tuples."""
_NAME = re.compile(r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?")


def state_home() -> Path:
    """The folder of everything that clusterwright keeps for this user."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "clusterwright"


def write_atomically(path: Path, data: str | bytes, mode: int = 0o644) -> None:
    """Whole or not at all, also when the machine loses power on the way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = data.encode() if isinstance(data, str) else data
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(stream.fileno(), mode)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@dataclass(frozen=True, slots=True)
class ClusterHome:
    """One cluster's folder."""

    name: str
    root: Path

    @classmethod
    def of(cls, name: str) -> ClusterHome:
        return cls(name, state_home() / "clusters" / name)

    @property
    def handoff_file(self) -> Path:
        return self.root / f"{self.name}.handoff.json"

    @property
    def description_file(self) -> Path:
        return self.root / "description.yaml"

    @property
    def applied_description_file(self) -> Path:
        return self.root / "applied.yaml"

    @property
    def keys(self) -> Path:
        return self.root / "keys"

    @property
    def runs(self) -> Path:
        return self.root / "runs"

    @property
    def reports(self) -> Path:
        return self.root / "reports"

    def exists(self) -> bool:
        return self.root.is_dir()

    def handoff(self) -> Handoff | None:
        """What was last applied, or None before the first `up` got that far."""
        try:
            return loads(self.handoff_file.read_text(), str(self.handoff_file))
        except FileNotFoundError:
            return None

    def files(self) -> tuple[NodeFile, ...]:
        """The rendered files as last applied."""
        try:
            rows = json.loads((self.root / "files.json").read_text())
        except (FileNotFoundError, ValueError):
            return ()
        return tuple(
            NodeFile(**{**row, **{key: tuple(row.get(key, ())) for key in _SEVERAL}}) for row in rows
        )

    def record_applied(self, handoff: Handoff, files: tuple[NodeFile, ...]) -> None:
        """Kept once every node converged: what `diff` compares with and what other verbs read."""
        write_atomically(self.root / "files.json", json.dumps([asdict(file) for file in files], indent=1))
        write_atomically(self.handoff_file, handoff.dumps())

    def new_run(self, verb: str) -> Path:
        """A fresh private folder for the artifacts of one run; the oldest beyond twenty are removed."""
        self.runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        numbers = sorted(int(run.name.split("-")[0]) for run in self.runs.iterdir() if run.name[:1].isdigit())
        for number in numbers[:-19]:
            for old in self.runs.glob(f"{number:05d}-*"):
                shutil.rmtree(old, ignore_errors=True)
        run = self.runs / f"{(numbers[-1] if numbers else 0) + 1:05d}-{verb}"
        run.mkdir(mode=0o700)
        return run

    def forget(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    @contextmanager
    def locked(self, of: str = "") -> Iterator[None]:
        """One writer at a time; a second one is refused with the first one's process ID.

        `of`: a part that has a lock of its own."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = self.root.parent / ".".join(["", self.name, *filter(None, [of]), "lock"])
        stream = file.open("a+")
        try:
            self._claim(stream)
            yield
        finally:
            if not self.root.exists():
                file.unlink(missing_ok=True)
            stream.close()

    def _claim(self, stream: TextIO) -> None:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.seek(0)
            holder = stream.read().strip() or "unknown"
            raise refuse(
                "CW8001",
                Where(path=self.name),
                f"process {holder} is working on cluster '{self.name}'",
                f"Wait until it has finished, or end it with `kill {holder}` and run this again",
            ) from None
        stream.truncate(0)
        stream.write(str(os.getpid()))
        stream.flush()


def known_clusters() -> list[str]:
    """Names of the clusters that this operator has, sorted."""
    clusters = state_home() / "clusters"
    if not clusters.is_dir():
        return []
    return sorted(home.name for home in clusters.iterdir() if home.is_dir() and _NAME.fullmatch(home.name))
