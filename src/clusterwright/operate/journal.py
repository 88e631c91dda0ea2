"""The journal of a node that keeps it to itself: read there."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.converge.lines import lines
from clusterwright.finding import Where, refuse
from clusterwright.operate.remote import KNOCK_SECONDS, Reached, run_on


def journal(
    node: Reached, elsewhere: str, *, follow: bool, last: int | None = None, of_this_boot: bool = False
) -> Iterator[str]:
    """Line after line. Raises Refused where no command runs there.

    `elsewhere`: what tells of a node that is dead."""
    answer = run_on(node, "true", timeout=KNOCK_SECONDS)
    if answer.code:
        said = (answer.error or answer.output).strip()[-300:] or "it says nothing"
        what = f"its journal is on it, and no command runs there: {said}"
        raise refuse("CW8087", Where(path=node.name), what, elsewhere)
    options = [f"--lines={last or 'all'}"]
    options += ["--boot"] if of_this_boot else []
    options += ["--follow"] if follow else []
    return lines(node.argv(f"exec journalctl --quiet --no-pager {' '.join(options)}"))
