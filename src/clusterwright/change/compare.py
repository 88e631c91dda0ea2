"""Two hand-offs and their files, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from clusterwright.catalog.changes import Cost, Impact, Kind, cost
from clusterwright.catalog.slurm import settings
from clusterwright.change.files import file_changes
from clusterwright.change.model import Change
from clusterwright.change.reach import BY_POOL, BY_SITE, reach
from clusterwright.change.stacks import STACKS, stack_changes
from clusterwright.handoff import Handoff, Node
from clusterwright.render.file import NodeFile
from clusterwright.spec.nodeset import expand

_SECTIONS = ("cluster", "fabric", "storage", "scheduler", "software")
_SITE = ("provider", "network", "place", "simulated")


def diff(
    old: Handoff | None,
    new: Handoff,
    old_files: Iterable[NodeFile] = (),
    new_files: Iterable[NodeFile] = (),
) -> list[Change]:
    """Every difference, the heaviest first. Without `old` every node is added."""
    if old is None:
        return list(_nodes((), new.nodes))
    changes = [
        *_nodes(old.nodes, new.nodes),
        *_hardware(old, new),
        *_sites(old, new),
        *_sections(old, new),
        *stack_changes(old, new),
        *file_changes(old, new, old_files, new_files),
    ]
    touching = (change for change in changes if change.nodes)
    return sorted(touching, key=lambda change: (-change.impact.weight, change.path, change.what))


def _nodes(old: Iterable[Node], new: Iterable[Node]) -> Iterator[Change]:
    before, after = {node.name: node for node in old}, {node.name: node for node in new}
    added = tuple(name for name in after if name not in before)
    removed = tuple(name for name in before if name not in after)
    if added:
        yield Change(added, "added", "node", cost("node", "added").impact)
    if removed:
        yield Change(removed, "removed", "node", cost("node", "removed").impact)
    properties = [field.name for field in fields(Node) if field.name != "name"]
    kept = [(before[name], node) for name, node in after.items() if name in before and before[name] != node]
    for name in properties:
        differing: dict[Cost, list[str]] = {}
        for was, node in kept:
            if getattr(was, name) != getattr(node, name):
                row = cost(f"node.{name}", _grown(getattr(was, name), getattr(node, name)))
                differing.setdefault(row, []).append(node.name)
        for row, on in differing.items():
            yield Change(tuple(on), "changed", f"node.{name}", row.impact, row.units)


def _grown(was: object, now: object) -> Kind:
    grown = isinstance(was, tuple) and isinstance(now, tuple) and {*was} <= {*now}
    return "added" if grown else "changed"


def _ordered(order: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    wanted = set(names)
    return tuple(name for name in order if name in wanted)


def _hardware(old: Handoff, new: Handoff) -> Iterator[Change]:
    for machine, row in new.hardware.items():
        was = old.hardware.get(machine)
        for field in fields(row) if was is not None and was != row else ():
            if getattr(was, field.name) != getattr(row, field.name):
                price = cost(f"hardware.{field.name}")
                on = _kept(old, (node for node in new.nodes if node.machine == machine))
                yield Change(on, "changed", f"hardware.{machine}.{field.name}", price.impact, price.units)


def _sites(old: Handoff, new: Handoff) -> Iterator[Change]:
    for name, site in new.site.items():
        was = old.site.get(name)
        for key in _SITE if was is not None else ():
            if was is not None and was[key] != site[key]:
                price = cost(f"site.{key}")
                on = _kept(old, (node for node in new.nodes if node.site == name))
                yield Change(on, "changed", f"site.{name}.{key}", price.impact, price.units)


def _kept(old: Handoff, nodes: Iterable[Node]) -> tuple[str, ...]:
    return tuple(node.name for node in nodes if node.name in old.by_name)


def _sections(old: Handoff, new: Handoff) -> Iterator[Change]:
    for section in _SECTIONS:
        before, after = getattr(old, section), getattr(new, section)
        for key in sorted({*before, *after}):
            path = f"{section}.{key}"
            absent: Any = {} if path in BY_POOL or path in BY_SITE else None
            was, is_now = before.get(key, absent), after.get(key, absent)
            if path != STACKS and was != is_now:
                yield from _property(new, path, was, is_now)


def _property(new: Handoff, path: str, before: Any, after: Any) -> Iterator[Change]:
    members = isinstance(before, Mapping) and isinstance(after, Mapping)
    names = sorted({*before, *after}) if members else [""]
    for name in names:
        was, is_now = (before.get(name), after.get(name)) if members else (before, after)
        if was == is_now:
            continue
        what: Kind = _kind(name in before, name in after) if members else "changed"
        impact, units = _price(new, path, name, what)
        loses_jobs = path == "scheduler.partitions" and what == "removed"
        nodes = _ordered(new.by_name, expand(was["nodes"])) if loses_jobs else reach(new, path, name, units)
        yield Change(nodes, what, f"{path}.{name}" if name else path, impact, units)


def _kind(was_there: bool, is_there: bool) -> Kind:
    if was_there and is_there:
        return "changed"
    return "added" if is_there else "removed"


def _price(new: Handoff, path: str, name: str, what: Kind) -> tuple[Impact, tuple[str, ...]]:
    row = cost(path, what)
    setting = settings().get(name.lower()) if path == "scheduler.options" else None
    if setting is None:
        return row.impact, row.units
    before_23_11 = str(new.scheduler["release"]) < "23.11"
    units = setting.restart_before_23_11 if before_23_11 else setting.restart
    return (Impact.DAEMON_RESTART if units else row.impact), units
