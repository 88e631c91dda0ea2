"""The command's own start: process time, which is what an editor and a shell wait for."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.result import Reference, Result

_COMMAND = str(Path(sys.executable).parent / "clusterwright")
_ROUNDS = 7


def results() -> Iterator[Result]:
    bare = Reference("bare Python", _process_seconds([sys.executable, "-c", "pass"]))
    yield Result("`clusterwright --help`", _process_seconds([_COMMAND, "--help"]), 0.15, reference=bare)
    validate = [_COMMAND, "validate", "clusters/lab.yaml"]
    yield Result(
        "`clusterwright validate clusters/lab.yaml`", _process_seconds(validate), 0.4, reference=bare
    )


def _process_seconds(command: list[str]) -> float:
    """User and system time, the least of some rounds: what is above it is the machine's other work."""
    return min(_once(command) for _ in range(_ROUNDS))


def _once(command: list[str]) -> float:
    before = _children()
    subprocess.run(command, check=True, capture_output=True)
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
