"""The command's own start: process time, which is what an editor and a shell wait for."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.result import Reference, Result

_COMMAND = str(Path(sys.executable).parent / "clusterwright")
_ROUNDS = 7
_MIXED = """\
cluster: mixed
site: {provider: onprem, network: 10.60.0.0/22}
pools:
  controller: {roles: [controller, storage], machine: generic-x86-16c}
  hopper: {roles: compute, machine: hgx-h100-8gpu, count: 4}
  blackwell: {roles: compute, machine: hgx-b200-8gpu, count: 4}
  amd: {roles: compute, machine: mi300x-8gpu, count: 4}
  grace: {roles: compute, machine: gb200-nvl72-tray, count: 18}
software: {distribution: ubuntu-24.04, versions: {cuda: 13}}
"""


def results() -> Iterator[Result]:
    bare = Reference("bare Python", process_seconds([sys.executable, "-c", "pass"]))
    yield Result("`clusterwright --help`", process_seconds([_COMMAND, "--help"]), 0.15, reference=bare)
    validate = [_COMMAND, "validate", "clusters/lab.yaml"]
    yield Result("`clusterwright validate clusters/lab.yaml`", process_seconds(validate), 0.4, reference=bare)

    yield from _locks(bare)


def _locks(bare: Reference) -> Iterator[Result]:
    """A lock made anew for pools that have little in common, and wishes that cannot be fulfilled for them."""
    with TemporaryDirectory() as folder:
        mixed, impossible = Path(folder, "mixed.yaml"), Path(folder, "impossible.yaml")
        mixed.write_text(_MIXED)
        impossible.write_text(_MIXED.replace("cuda: 13", "driver: 580, fabric_manager: 570"))
        lock = ["sh", "-c", f"rm -f {folder}/mixed.lock.yaml; exec {_COMMAND} lock {mixed}"]
        yield Result("`clusterwright lock`, four kinds of GPU", process_seconds(lock), 0.5, reference=bare)
        explain = ["sh", "-c", f"{_COMMAND} lock {impossible}; test $? = 2"]
        yield Result("the same, with a conflict to explain", process_seconds(explain), 1.0, reference=bare)


def process_seconds(command: list[str]) -> float:
    """User and system time, the least of some rounds: what is above it is the machine's other work."""
    return min(_once(command) for _ in range(_ROUNDS))


def _once(command: list[str]) -> float:
    before = _children()
    subprocess.run(command, check=True, capture_output=True)
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
