"""Runs as a task of a job on a node: is the share what others see, and how fast is it?

fio writes and reads past the node's own cache, in files that are removed after. Python 3.9 and its standard
library only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SECONDS = 20
"""The longest that one direction may take; the amount is what the expected rate moves in a few seconds."""
JOBS = 16
LEAST = 16 << 20


def fio(folder: Path, way: str, size: int, jobs: int) -> tuple[float, str]:
    """Bytes a second, or what went wrong."""
    command = [
        "fio", "--name=clusterwright", f"--directory={folder}", f"--rw={way}", "--bs=1M", f"--size={size}",
        f"--numjobs={jobs}", "--direct=1", "--ioengine=libaio", "--iodepth=8", f"--runtime={SECONDS}",
        "--group_reporting", "--output-format=json",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=3 * SECONDS)
        said = done.stdout.decode(errors="replace")
        if done.returncode:
            return 0.0, (said.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        return float(json.loads(said[said.index("{") :])["jobs"][0][way]["bw_bytes"]), ""
    except (OSError, ValueError, KeyError, IndexError, subprocess.TimeoutExpired) as error:
        return 0.0, str(error)


def look(share: dict[str, object], text: str) -> dict[str, object]:
    place = Path(str(share["folder"]))
    try:
        if (place / "token").read_text().strip() != text:
            return {"error": "another content of the same file"}
        own = place / os.uname().nodename
        own.mkdir()
        (own / "token").write_text(text)
    except OSError as error:
        return {"error": f"{error.filename}: {error.strerror}"}
    if not share["expected"]:
        return {}
    if shutil.which("fio") is None:
        return {"absent": "fio"}
    jobs = max(1, min(JOBS, len(os.sched_getaffinity(0))))
    size = max(LEAST, int(4 * int(str(share["expected"])) / jobs) >> 20 << 20)
    found: dict[str, object] = {}
    for way in ("write", "read"):
        found[way], found["error"] = fio(own, way, size, jobs)
        if found["error"]:
            break
    shutil.rmtree(own, ignore_errors=True)
    return found


for share in json.loads(os.environ["CLUSTERWRIGHT_SHARES"]):
    report = {
        "gate": "share",
        "job": os.environ["SLURM_JOB_ID"],
        "node": os.environ["SLURMD_NODENAME"],
        "path": share["path"],
        **look(share, os.environ["CLUSTERWRIGHT_TOKEN"]),
    }
    sys.stdout.write(json.dumps(report, sort_keys=True) + "\n")
