"""Resources as text that a person can review: sorted, a property a line, and what is alike said once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .harness import Registered

_MOST_DIFFERENCES = 12
_MOST_DEPENDENCIES = 8
_LONGEST = 400
_ROOT = f"{Path(__file__).parents[2]}/"


def text(resources: Iterable[Registered]) -> str:
    """All of them; one that differs little from an earlier one of its type is told as the difference."""
    seen: dict[str, list[tuple[str, Mapping[str, str]]]] = {}
    blocks: list[str] = []
    for one in resources:
        leaves = dict(_leaves(one))
        like = next((pair for pair in seen.get(one.type, []) if _alike(pair[1], leaves)), None)
        seen.setdefault(one.type, []).append((one.name, leaves))
        shown = leaves if like is None else {k: v for k, v in leaves.items() if like[1][k] != v}
        head = f"{one.urn}{f'  as {like[0]}, but' if like else ''}"
        blocks.append("\n".join([head, *(f"  {key} = {value}" for key, value in shown.items())]))
    return "\n\n".join(blocks) + "\n"


def _alike(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return one.keys() == other.keys() and sum(one[key] != other[key] for key in one) <= _MOST_DIFFERENCES


def _leaves(one: Registered) -> Iterator[tuple[str, str]]:
    yield "in", one.parent or "(stack)"
    if one.provider:
        yield "provider", one.provider
    for option, value in sorted(one.options.items()):
        yield f"({option})", str(value)
    if one.depends_on:
        few = len(one.depends_on) <= _MOST_DEPENDENCIES
        yield "(dependsOn)", " ".join(one.depends_on) if few else f"{len(one.depends_on)} resources"
    yield from _flat("", one.inputs)
    for key, urns in one.links.items():
        yield f"{key} <-", " ".join(urns)


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else key, part)
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        yield from _rows(prefix, value)
    else:
        yield prefix, _short(value)


def _rows(prefix: str, parts: list[Any]) -> Iterator[tuple[str, str]]:
    """Each on a line of its own, for instance the interfaces of a machine."""
    for place, part in enumerate(parts):
        told = ", ".join(f"{key} {value}" for key, value in _flat("", part))
        yield f"{prefix}[{place}]", told


def _short(value: Any) -> str:
    shown = " ".join(map(str, value)) if isinstance(value, list) else str(value).removeprefix(_ROOT)
    if len(shown) <= _LONGEST and "\n" not in shown:
        return shown
    return f"({len(shown)} characters, sha256 {hashlib.sha256(shown.encode()).hexdigest()[:16]})"
