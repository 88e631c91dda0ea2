"""What another lock costs: each component of each pool by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.version import Version

from clusterwright.catalog.changes import Impact, Kind, cost_of_component
from clusterwright.change.model import Change
from clusterwright.handoff import Handoff

STACKS = "software.stacks"


def stack_changes(old: Handoff, new: Handoff) -> Iterator[Change]:
    """Components that differ on nodes that were there before."""
    before, after = old.software["stacks"], new.software["stacks"]
    for pool in sorted({*before, *after}):
        nodes = tuple(node.name for node in new.nodes if node.pool == pool and node.name in old.by_name)
        was, is_now = before.get(pool, {}), after.get(pool, {})
        for component in sorted({*was, *is_now}):
            if was.get(component) != is_now.get(component):
                yield _change(nodes, pool, component, was.get(component), is_now.get(component))


def _change(
    nodes: tuple[str, ...],
    pool: str,
    component: str,
    was: Mapping[str, Any] | None,
    is_now: Mapping[str, Any] | None,
) -> Change:
    kind = _kind(was, is_now)
    impact = cost_of_component(component, kind).impact
    daemons = tuple(is_now["services"]) if is_now and was and impact is Impact.LIVE else ()
    path = f"{STACKS}.{pool}.{component}"
    return Change(nodes, kind, path, Impact.DAEMON_RESTART if daemons else impact, daemons)


def _kind(was: Mapping[str, Any] | None, is_now: Mapping[str, Any] | None) -> Kind:
    if was is None or is_now is None:
        return "added" if was is None else "removed"
    of_its_series = f"{was['version']}.".startswith(f"{is_now['version']}.")
    lowered = Version(is_now["version"]) < Version(was["version"]) and not of_its_series
    return "lowered" if lowered else "changed"
