"""Runs as a task of a job that was given some of a node's GPUs, and tries to open all of them.

The operator judges: a device that was not given must be refused with EPERM by the device cgroup. What was
given may answer ENXIO or EIO when the device behind it has a fault: that is not for isolation to judge.
"""

from __future__ import annotations

import errno
import json
import os
import pathlib
import sys


def attempt(path: str) -> str:
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error.errno))
    return "opened"


def numbers(text: str) -> list[int]:
    """`0,2-3` as [0, 2, 3]."""
    spans = [part.partition("-") for part in text.split(",") if part]
    return [n for first, _, last in spans for n in range(int(first), int(last or first) + 1)]


patterns = os.environ["CLUSTERWRIGHT_GPU_FILES"].split()
files = [str(path) for pattern in patterns for path in pathlib.Path("/").glob(pattern.lstrip("/"))]
given = os.environ.get("SLURM_STEP_GPUS") or os.environ.get("SLURM_JOB_GPUS") or ""
report = {
    "gate": "gpu-isolation",
    "job": os.environ["SLURM_JOB_ID"],
    "node": os.environ["SLURMD_NODENAME"],
    "given": numbers(given),
    "attempts": {path: attempt(path) for path in files},
}
sys.stdout.write(json.dumps(report, sort_keys=True) + "\n")
