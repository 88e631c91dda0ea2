"""Files that differ, and the daemons that have to know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterwright.catalog.changes import Impact, Kind
from clusterwright.change.model import Change
from clusterwright.change.reach import running
from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile


def file_changes(
    old: Handoff, new: Handoff, before: Iterable[NodeFile], after: Iterable[NodeFile]
) -> Iterator[Change]:
    """One change for each file that is new, gone or different on nodes that stay."""
    was, now = {file.path: file for file in before}, {file.path: file for file in after}
    for path in sorted({*was, *now}):
        if was.get(path) == now.get(path):
            continue
        file = now.get(path) or was[path]
        restarted = tuple(
            unit for unit, _, how in (text.rpartition(":") for text in file.affects) if how == "restart"
        )
        nodes = [node.name for node in new.nodes if file.is_for(node)]
        if restarted:
            daemons = {name for unit in restarted for name in running(new, unit)}
            nodes = [name for name in nodes if name in daemons]
        what: Kind = "changed" if path in was and path in now else "added" if path in now else "removed"
        impact = Impact.DAEMON_RESTART if restarted else Impact.LIVE
        yield Change(tuple(name for name in nodes if name in old.by_name), what, path, impact, restarted)
