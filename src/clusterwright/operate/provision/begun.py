"""How far each machine was taken, so that a run that was killed is gone on with and switches none twice."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from clusterwright.operate.home import ClusterHome, write_atomically

Phase = Literal["starting", "late"]
"""`starting` is written before the order is given: one that is on then was started.
`late`: it was waited for long enough."""


@dataclass(frozen=True)
class Begun:
    """`provision.json` in the cluster's folder: machines that were started, and are not ready yet."""

    home: ClusterHome
    _writing: threading.Lock = field(default_factory=threading.Lock)

    @property
    def file(self) -> Path:
        return self.home.root / "provision.json"

    def read(self) -> Mapping[str, Phase]:
        try:
            body = json.loads(self.file.read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return body if isinstance(body, dict) else {}

    def note(self, names: Collection[str], phase: Phase) -> None:
        with self._writing:
            self._write({**self.read(), **dict.fromkeys(names, phase)})

    def forget(self, names: Collection[str]) -> None:
        with self._writing:
            known = self.read()
            if {*names} & {*known}:
                self._write({name: phase for name, phase in known.items() if name not in names})

    def _write(self, rows: Mapping[str, Phase]) -> None:
        if rows:
            write_atomically(self.file, json.dumps(rows, indent=1, sort_keys=True) + "\n")
        else:
            self.file.unlink(missing_ok=True)
