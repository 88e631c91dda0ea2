"""Journal and console of a node on a cloud: through its door, and from the cloud where there is none."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.finding import Where, refuse
from clusterwright.operate.journal import journal
from clusterwright.operate.stack.diagnose import console_of
from clusterwright.operate.stack.known import Known
from clusterwright.operate.stack.way import Way


def logs(found: Known, node: str, *, follow: bool, console: bool) -> Iterator[str]:
    """Line after line; with `follow` until the reader stops asking. Raises Refused before the first."""
    found.machine(node)
    if console:
        if follow:
            what, remedy = "the cloud hands a console out as it is now", "Leave --follow out, and ask again"
            raise refuse("CW8087", Where(path=node), what, remedy)
        return iter(console_of(found)(node).splitlines())
    elsewhere = f"Read what it printed: `clusterwright logs {found.name} {node} --console`"
    return journal(Way(found, node), elsewhere, follow=follow)
