"""Root file systems with the Slurm of each Debian release at hand."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.debian_root import Unavailable, debian_root

from clusterwright.catalog.distributions import distribution

__all__ = ["SUITES", "Unavailable", "root"]

SUITES = {"22.05": "bookworm", "24.11": "trixie", "26.05": "forky"}
"""Slurm release → the Debian suite whose packages carry it. Nothing at hand carries 23.11 and 25.11."""
_LIKE = {"bookworm": "debian-12", "trixie": "debian-13", "forky": "debian-13"}
_PARTS = ("controller", "database", "compute", "munge", "rest", "monitoring")


def root(release: str) -> Path:
    """The root file system that carries this Slurm release. Raises Unavailable."""
    for program in ("nsenter", "ip"):
        if not shutil.which(program):
            raise Unavailable(f"real daemons need the program {program}")
    suite = SUITES[release]
    return debian_root(suite, _packages(suite), _mend if suite == "forky" else lambda _: None)


def _packages(suite: str) -> str:
    parts = distribution(_LIKE[suite]).parts
    return ",".join(sorted({"mount", *(package for part in _PARTS for package in parts[part].packages)}))


def _mend(unfinished: Path) -> None:
    # libmariadb3 1:11.8.9+ds-2 refuses every answer for its "maximum allowed number of columns (=0)".
    library = "usr/lib/x86_64-linux-gnu/libmariadb.so.3"
    shutil.copy2(root("24.11") / library, unfinished / library)
