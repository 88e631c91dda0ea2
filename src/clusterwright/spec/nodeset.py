"""Sets of node names in the admin's syntax, `gpu[001-004],login1`: expanded, folded, and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable

MAX_NODES = 65_536
"""Slurm's own limit of nodes in one cluster."""

_RANGE = r"[0-9]{1,9}(?:-[0-9]{1,9})?"
_PART = re.compile(rf"(?:[a-z0-9-]+|\[{_RANGE}(?:,{_RANGE})*\])+")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_COMMA_OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")
_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")


def expand(text: str) -> list[str]:
    """Every name, in order. Raises ValueError with a sentence for a person."""
    parts = [part.strip() for part in _COMMA_OUTSIDE_BRACKETS.split(text)]
    total = 0
    for part in parts:
        if not _PART.fullmatch(part):
            raise ValueError(f"'{_short(part)}' is not a node name or a set such as gpu[001-004]")
        total += _size(part)
        if total > MAX_NODES:
            raise ValueError(f"'{_short(text)}' is more than {MAX_NODES} nodes, Slurm's limit for a cluster")
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    names = [name for part in parts for name in NodeSet(part, resolver=RESOLVER_NOGROUP)]
    for name in names:
        if not _NAME.fullmatch(name):
            what = "needs a lower-case letter first, then letters, digits and '-', 63 at most"
            raise ValueError(f"the node name '{_short(name)}' {what}")
    if len(set(names)) < len(names):
        raise ValueError(f"'{_short(text)}' names a node twice")
    return names


def fold(names: Iterable[str]) -> str:
    """The shortest set with ranges in the last digits only, as slurm.conf wants them."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    nodes = NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP)
    nodes.fold_axis = (-1,)
    return str(nodes)


def _size(part: str) -> int:
    size = 1
    for brackets in _BRACKETS.findall(part):
        size *= sum(_range_size(text) for text in brackets.split(","))
    return size


def _range_size(text: str) -> int:
    first, _, last = text.partition("-")
    last = last or first
    if int(last) < int(first):
        raise ValueError(f"the range '{text}' runs backwards")
    if len(first) > len(last) or (first.startswith("0") and len(first) != len(last) and first != "0"):
        raise ValueError(f"the range '{text}' mixes widths: write both ends with as many digits")
    return int(last) - int(first) + 1


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"
