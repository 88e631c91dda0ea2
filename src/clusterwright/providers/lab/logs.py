"""Reading what a node wrote: its journal or its console, from the host and also when it does not run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from clusterwright.finding import Where, refuse
from clusterwright.providers.lab.machine import Machine

NO_LOG = "CW7013"


def log_lines(machine: Machine, *, follow: bool, console: bool) -> Iterator[str]:
    """Line after line; with `follow` until the reader stops asking."""
    source = machine.console if console else machine.journal
    if not source.exists():
        raise refuse(
            NO_LOG,
            Where(file=str(source)),
            f"node {machine.name} has written no {'console' if console else 'journal'} yet",
            "`clusterwright status` lists the nodes; one that never booted has only a console",
        )
    if console:
        argv = ["tail", "--lines=+1", *(["--follow"] if follow else []), str(source)]
    else:
        argv = ["journalctl", "--quiet", "--no-pager", f"--directory={source}"]
        argv += ["--follow", "--lines=all"] if follow else []
    return _lines(argv)


def _lines(argv: list[str]) -> Iterator[str]:
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, errors="replace") as reader:
        assert reader.stdout is not None
        try:
            for line in reader.stdout:
                yield line.rstrip("\n")
        finally:
            reader.terminate()
