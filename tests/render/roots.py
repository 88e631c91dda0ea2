"""Root file systems with the Slurm of each Debian release at hand, built once and kept in the cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from clusterwright.catalog.distributions import distribution

SUITES = {"22.05": "bookworm", "24.11": "trixie", "26.05": "forky"}
"""Slurm release → the Debian suite whose packages carry it. Nothing at hand carries 23.11 and 25.11."""
_LIKE = {"bookworm": "debian-12", "trixie": "debian-13", "forky": "debian-13"}
_PARTS = ("controller", "database", "compute", "munge", "rest", "monitoring")


class Unavailable(Exception):
    """Why real daemons cannot run here."""


def root(release: str) -> Path:
    """The root file system that carries this Slurm release. Raises Unavailable."""
    if os.geteuid() != 0:
        raise Unavailable("real daemons need root")
    for program in ("mmdebstrap", "unshare", "nsenter", "ip"):
        if not shutil.which(program):
            raise Unavailable(f"real daemons need the program {program}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clusterwright" / "test-roots"
    cache.mkdir(parents=True, exist_ok=True)
    suite = SUITES[release]
    wanted = cache / f"{suite}-{hashlib.sha256(_packages(suite).encode()).hexdigest()[:12]}"
    with (cache / f"{suite}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not wanted.is_dir():
            _build(suite, wanted)
    return wanted


def _packages(suite: str) -> str:
    parts = distribution(_LIKE[suite]).parts
    return ",".join(sorted({"mount", *(package for part in _PARTS for package in parts[part].packages)}))


def _build(suite: str, wanted: Path) -> None:
    unfinished = wanted.with_suffix(".unfinished")
    subprocess.run(["rm", "-rf", "--one-file-system", str(unfinished)], check=True)
    frozen_mirrors_expire = 'Acquire::Check-Valid-Until "false"'
    command = ["mmdebstrap", "--variant=apt", "--quiet", f"--aptopt={frozen_mirrors_expire}"]
    command += [f"--include={_packages(suite)}", suite, str(unfinished), *_mirror()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"no root file system of {suite}: {done.stderr.strip()[-400:]}")
    if suite == "forky":
        # libmariadb3 1:11.8.9+ds-2 refuses every answer for its "maximum allowed number of columns (=0)".
        library = "usr/lib/x86_64-linux-gnu/libmariadb.so.3"
        shutil.copy2(root("24.11") / library, unfinished / library)
    unfinished.rename(wanted)


def _mirror() -> list[str]:
    """The mirror that this machine itself uses, where it is a Debian."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"]
    if not shutil.which("apt-get"):
        return []
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    return sorted(set(listed))[:1]
