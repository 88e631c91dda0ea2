"""Reading what a node wrote: its journal or its console, from the host and also when it does not run."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.converge.lines import lines
from clusterwright.finding import Where, refuse
from clusterwright.providers.lab.lab import Lab

NO_LOG = "CW7013"


def logs(
    lab: Lab, node: str, *, follow: bool = False, console: bool = False, last: int | None = None
) -> Iterator[str]:
    """Line after line, all or the `last`; with `follow` until the reader stops asking."""
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
        return lines(["tail", f"--lines={last or '+1'}", *(["--follow"] if follow else []), str(source)])
    shown = [f"--lines={last or 'all'}", *(["--follow"] if follow else [])]
    return lines(["journalctl", "--quiet", "--no-pager", f"--directory={source}", *shown])
