"""Reading what a node wrote: its journal or its console, from the host and also when it does not run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from clusterwright.finding import Where, refuse
from clusterwright.providers.lab.lab import Lab

NO_LOG = "CW7013"


def logs(lab: Lab, node: str, *, follow: bool = False, console: bool = False) -> Iterator[str]:
    """Line after line; with `follow` until the reader stops asking."""
    machine = lab.machine(node)
    source = machine.console if console else machine.journal
    if not source.exists():
        raise refuse(
            NO_LOG,
            Where(path=f"{lab.name}/{node}"),
            f"node {node} has written no {'console' if console else 'journal'} yet",
            f"`clusterwright status {lab.name}` lists the nodes; one that never booted has only a console",
        )
    if console:
        return _lines(["tail", "--lines=+1", *(["--follow"] if follow else []), str(source)])
    following = ["--follow", "--lines=all"] if follow else []
    return _lines(["journalctl", "--quiet", "--no-pager", f"--directory={source}", *following])


def _lines(argv: list[str]) -> Iterator[str]:
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, errors="replace") as reader:
        assert reader.stdout is not None
        try:
            for line in reader.stdout:
                yield line.rstrip("\n")
        finally:
            reader.terminate()
