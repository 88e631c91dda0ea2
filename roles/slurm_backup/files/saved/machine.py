"""What the programs here need of the machine that they run on."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path


class Stop(Exception):
    """This cannot be done; the words say why."""


def run(*argv: str) -> str:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Stop(f"{argv[0]}: {error.strerror}") from error
    if done.returncode:
        raise Stop(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


def sync(path: Path) -> None:
    """A file's content, or a folder's entries, are on disk when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as stream:
        for piece in iter(lambda: stream.read(1 << 20), b""):
            found.update(piece)
    return found.hexdigest()


def mounted(path: str) -> bool:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return path in {line.split()[4] for line in lines}


def own_release() -> str:
    """24.11 of `slurm-wlm 24.11.5`."""
    found = re.search(r"\d\d\.\d\d", run("slurmctld", "-V"))
    if not found:
        raise Stop("slurmctld does not say its release")
    return found[0]


def jobs() -> dict | None:
    """How many wait and run; None where slurmctld does not answer."""
    try:
        states = run("squeue", "--noheader", "--states=PENDING,RUNNING", "--format=%T").split()
    except Stop:
        return None
    return {"pending": states.count("PENDING"), "running": states.count("RUNNING")}
