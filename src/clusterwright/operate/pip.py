"""pip, for wheels that a lock file names by their hashes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from clusterwright.operate.program import run

_OPTIONS = ("--quiet", "--disable-pip-version-check", "--no-input", "--only-binary=:all:", "--no-deps")


def download(requirements: Path, folder: Path, options: Sequence[str] = ()) -> None:
    """What is in the folder already is looked at and kept. Raises program.Failed with pip's words."""
    argv = [sys.executable, "-m", "pip", "download", *_OPTIONS, "--require-hashes", *options]
    run([*argv, "--dest", str(folder), "--requirement", str(requirements)])
