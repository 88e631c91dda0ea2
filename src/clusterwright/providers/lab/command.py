"""Running a program of the host: its whole error text becomes one finding, never a traceback."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from clusterwright.finding import Where, refuse

COMMAND_FAILED = "CW7020"


def run(argv: Sequence[str], *, stdin: str = "", environ: Mapping[str, str] | None = None) -> str:
    """The program's output; refuses with what it wrote to its error stream when it fails."""
    try:
        done = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, errors="replace", env=environ, check=False
        )
    except FileNotFoundError:
        raise refuse(
            COMMAND_FAILED,
            Where(path=argv[0]),
            f"the program {argv[0]} is not installed",
            "Install what the lab needs: run again with --install-deps",
        ) from None
    if done.returncode != 0:
        words = _cause(done.stderr or done.stdout) or f"exit status {done.returncode}"
        raise refuse(
            COMMAND_FAILED,
            Where(path=Path(argv[0]).name),
            f"{' '.join(argv[:4])} failed: {words}",
            "Repair the cause named here and run the same command again; it continues where it stopped",
        )
    return done.stdout


def _cause(text: str) -> str:
    """apt and mmdebstrap mark what went wrong among much that did not; others say only that."""
    marked = [line for line in text.splitlines() if line.startswith("E: ")]
    return " ".join(" ".join(marked or [text]).split())[-800:]


def quiet(argv: Sequence[str], *, stdin: str = "") -> bool:
    """Whether the program succeeded, for questions and for removing what may be gone already."""
    try:
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False).returncode == 0
    except FileNotFoundError:
        return False
