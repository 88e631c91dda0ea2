"""Root file systems of a Debian release with some packages, built once and kept in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path


class Unavailable(Exception):
    """Why such a root cannot be had here."""


def _as_it_is(root: Path) -> None:
    """Nothing more is to be done to it."""


def debian_root(suite: str, packages: str, finish: Callable[[Path], None] = _as_it_is) -> Path:
    """The root with these packages (names with commas between). Raises Unavailable."""
    if os.geteuid() != 0:
        raise Unavailable("a root file system needs root")
    for program in ("mmdebstrap", "unshare"):
        if not shutil.which(program):
            raise Unavailable(f"a root file system needs the program {program}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clusterwright" / "test-roots"
    cache.mkdir(parents=True, exist_ok=True)
    wanted = cache / f"{suite}-{hashlib.sha256(packages.encode()).hexdigest()[:12]}"
    with (cache / f"{wanted.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.is_dir():
            _build(suite, packages, wanted, finish)
    return wanted


def _build(suite: str, packages: str, wanted: Path, finish: Callable[[Path], None]) -> None:
    unfinished = wanted.with_suffix(".unfinished")
    subprocess.run(["rm", "-rf", "--one-file-system", str(unfinished)], check=True)
    frozen_mirrors_expire = 'Acquire::Check-Valid-Until "false"'
    command = ["mmdebstrap", "--variant=apt", "--quiet", f"--aptopt={frozen_mirrors_expire}"]
    command += [f"--include={packages}", suite, str(unfinished), *_mirror()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"no root file system of {suite}: {done.stderr.strip()[-400:]}")
    finish(unfinished)
    unfinished.rename(wanted)


def _mirror() -> list[str]:
    """The mirror that this machine itself uses, where it is a Debian."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"]
    if not shutil.which("apt-get"):
        return []
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    return sorted(set(listed))[:1]
