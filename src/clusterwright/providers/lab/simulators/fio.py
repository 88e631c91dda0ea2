"""fio on a parallel file system: a small file is really written and read, the rate follows from the state."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from . import shares
from .node import Answer, Node

_KINDS = ("lustre", "beegfs", "cephfs", "weka")
_REAL = "/usr/bin/fio"
_PROBE = b"clusterwright" * 4096
_SEQUENTIAL = ("read", "write")


def answer(node: Node, arguments: Sequence[str]) -> Answer:
    """`--directory`, `--rw` (read or write), `--runtime` and `--output-format=json`, on a share."""
    if "--version" in arguments:
        return Answer("fio-3.39-simulated\n")
    words = [argument.partition("=") for argument in arguments if argument.startswith("--")]
    told = {name.lstrip("-"): value for name, _, value in words}
    directory, way = told.get("directory", "."), told.get("rw", "read")
    share = next((one for kind in _KINDS if (one := shares.mounted_at(node, kind, directory))), None)
    if share is None and Path(_REAL).exists():
        os.execv(_REAL, [_REAL, *arguments])
    if share is None or way not in _SEQUENTIAL:
        what = f"no parallel file system at {directory}" if share is None else f"no --rw={way}"
        return Answer(error=f"fio: simulated here, and knows {what}\n", status=1)
    probe = Path(directory, f".fio-probe-{os.getpid()}")
    try:
        probe.write_bytes(_PROBE)
        intact = probe.read_bytes() == _PROBE
        probe.unlink()
    except OSError as error:
        return Answer(error=f"fio: {probe}: {error.strerror}\n", status=1)
    if not intact or share.state != "ok":
        return Answer(error=f"fio: io_u error on file {probe}: Input/output error: {way}\n", status=1)
    rate = round(shares.gigabytes_per_second(node, share) * 1e9)
    return Answer(json.dumps(_report(told, way, rate), indent=2) + "\n")


def _report(told: dict[str, str], way: str, rate: int) -> dict[str, object]:
    """As much of fio's JSON as tells the rate; `bw` is in KiB/s, `bw_bytes` in bytes."""
    seconds = int(told.get("runtime", "5").rstrip("s") or 5)
    ways = {
        name: {
            "io_bytes": moved * seconds,
            "bw_bytes": moved,
            "bw": moved >> 10,
            "runtime": seconds * 1000 if moved else 0,
        }
        for name in _SEQUENTIAL
        for moved in [rate if name == way else 0]
    }
    job = {"jobname": told.get("name", "fio"), "groupid": 0, "error": 0, **ways}
    return {"fio version": "fio-3.39-simulated", "jobs": [job]}
