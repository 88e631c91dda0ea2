"""A file that keeps slurmctld from starting: its unit's condition. Whoever made it says why."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from saved.machine import sync

LOOKING, WAITING, RESTORING = "looking", "waiting", "restoring"


class Hold:
    """`looking` for backups, `waiting` for a person to say what to do, or `restoring`."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @property
    def kind(self) -> str:
        return self._read().get("kind", "")

    @property
    def why(self) -> str:
        return self._read().get("why", "")

    def _read(self) -> dict:
        with contextlib.suppress(FileNotFoundError, ValueError):
            return json.loads(self.file.read_text(encoding="utf-8"))
        return {}

    def put(self, kind: str, why: str) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps({"kind": kind, "why": why}), encoding="utf-8")
        sync(new)
        new.replace(self.file)
        sync(self.file.parent)

    def lift(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.file.unlink()
