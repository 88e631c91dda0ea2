"""Programs of this machine: their own words become the finding."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from clusterwright.finding import Where, refuse

_PACKAGES = {
    "apt-ftparchive": "apt-utils",
    "gpg": "gnupg",
    "ibnetdiscover": "infiniband-diags",
    "iblinkinfo": "infiniband-diags",
    "skopeo": "skopeo",
}


class Failed(Exception):
    """A program ended with an error; the message is what it said."""


def run(argv: Sequence[str], environ: Mapping[str, str] | None = None, folder: Path | None = None) -> str:
    """The program's output. Raises Failed with its words, Refused where there is no such program."""
    environ = {**os.environ, "LC_ALL": "C", **(environ or {})}
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", env=environ, cwd=folder, check=False
        )
    except FileNotFoundError:
        name = Path(argv[0]).name
        what = f"the program {name} is not installed"
        remedy = f"Install the package {_PACKAGES.get(name, 'apt')} on this machine"
        raise refuse("CW8020", Where(path=name), what, remedy) from None
    if done.returncode:
        raise Failed(_cause(done.stdout, done.stderr) or f"exit status {done.returncode}")
    return done.stdout


def _cause(output: str, errors: str) -> str:
    """apt marks what went wrong, and tells of unmet dependencies on its standard output."""
    marked = [line for line in errors.splitlines() if line.startswith(("E: ", "ERROR: "))]
    unmet = output.partition("unmet dependencies:\n")[2]
    return "\n".join([*(marked or errors.splitlines()[-8:]), *unmet.splitlines()])[-1500:]
