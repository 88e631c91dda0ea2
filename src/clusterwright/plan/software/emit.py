"""YAML for people to review: mappings and lists, names plain, all other text in double quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./+-]*")
_NOT_TEXT = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
_WIDEST = 100


def emit(body: Mapping[str, object]) -> str:
    """The same body gives the same bytes; any reader of YAML 1.1 or 1.2 gets the same values back."""
    return "\n".join(_mapping(body, "")) + "\n"


def _mapping(body: Mapping[str, object], margin: str) -> Iterator[str]:
    for key, value in body.items():
        head = f"{margin}{_scalar(key)}:"
        if isinstance(value, Mapping) and value:
            yield head
            yield from _mapping(value, f"{margin}  ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield from _list(head, value, f"{margin}  ")
        else:
            yield f"{head} {'{}' if value == {} else _scalar(value)}"


def _list(head: str, rows: Sequence[object], margin: str) -> Iterator[str]:
    """Names on one line as long as they fit; sentences have a line each."""
    items = [_scalar(row) for row in rows]
    line = f"{head} [{', '.join(items)}]"
    if len(line) <= _WIDEST and not any(" " in item for item in items):
        yield line
        return
    yield head
    yield from (f"{margin}- {item}" for item in items)


def _scalar(value: object) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _NOT_TEXT:
        return value
    return json.dumps(value, ensure_ascii=False)
