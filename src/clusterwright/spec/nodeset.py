"""Sets of node names in the admin's syntax, `gpu[001-004],login1`: expanded, folded, and bounded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import prod

from clusterwright.spec.document import shown

MAX_NODES = 65_536
"""Slurm's own limit of nodes in one cluster."""

_RANGE = r"[0-9]{1,9}(?:-[0-9]{1,9})?"
_PART = re.compile(rf"(?:[a-z0-9-]|\[{_RANGE}(?:,{_RANGE})*\])+")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_COMMA_OUTSIDE_BRACKETS = re.compile(r",(?![^\[]*\])")
_LAST_DIGITS = re.compile(r"(.*?)([0-9]+)([^0-9]*)")
_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")


def size(text: str) -> int:
    """How many names a set has, without making them. Raises ValueError with a sentence for a person."""
    total = 0
    for part in _parts(text):
        if not _PART.fullmatch(part):
            raise ValueError(f"{shown(part)} is no node name")
        total += prod(sum(map(_range_size, found.split(","))) for found in _BRACKETS.findall(part))
        if total > MAX_NODES:
            raise ValueError(f"{shown(text)} is more than {MAX_NODES} nodes, Slurm's limit for a cluster")
        longest = _BRACKETS.sub(_longest_number, part)
        if not _NAME.fullmatch(longest):
            what = "needs a lower-case letter first, then letters, digits and '-', 63 at most"
            raise ValueError(f"the node name {shown(longest)} {what}")
    return total


def expand(text: str) -> list[str]:
    """Every name, in order. Raises ValueError with a sentence for a person."""
    total = size(text)
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

    names = [name for part in _parts(text) for name in NodeSet(part, resolver=RESOLVER_NOGROUP)]
    if len(set(names)) < total:
        raise ValueError(f"{shown(text)} names a node twice")
    return names


def fold(names: Iterable[str]) -> str:
    """The shortest set with ranges in the last digits only, as slurm.conf wants them.

    Its own code and not ClusterShell's, which takes seconds for the names of a large cluster.
    """
    numbers: dict[tuple[str, str], set[str]] = {}
    plain = set()
    for name in names:
        if match := _LAST_DIGITS.fullmatch(name):
            numbers.setdefault((match[1], match[3]), set()).add(match[2])
        else:
            plain.add(name)
    folded = [
        f"{before}{ranges}{after}"
        for (before, after), digits in numbers.items()
        for ranges in _ranges(digits)
    ]
    return ",".join(sorted([*plain, *folded]))


def _ranges(digits: set[str]) -> Iterator[str]:
    """Numbers padded to the same width form one set; those without padding form another."""
    padded = {len(number) for number in digits if number.startswith("0") and number != "0"}
    by_width: dict[int, list[int]] = {}
    for number in digits:
        width = len(number) if len(number) in padded else 0
        by_width.setdefault(width, []).append(int(number))
    for width, values in by_width.items():
        runs = [
            f"{first:0{width}}" + (f"-{last:0{width}}" if last > first else "")
            for first, last in _runs(values)
        ]
        yield runs[0] if len(values) == 1 else f"[{','.join(runs)}]"


def _runs(values: list[int]) -> Iterator[tuple[int, int]]:
    values.sort()
    first = last = values[0]
    for value in values[1:]:
        if value != last + 1:
            yield first, last
            first = value
        last = value
    yield first, last


def _parts(text: str) -> list[str]:
    return [part.strip() for part in _COMMA_OUTSIDE_BRACKETS.split(text)]


def _longest_number(brackets: re.Match[str]) -> str:
    return max(re.split("[,-]", brackets[1]), key=len)


def _range_size(text: str) -> int:
    first, _, last = text.partition("-")
    last = last or first
    if int(last) < int(first):
        raise ValueError(f"the range {shown(text)} runs backwards")
    if len(first) > len(last) or (first.startswith("0") and len(first) != len(last) and first != "0"):
        raise ValueError(f"the range {shown(text)} mixes widths: write both ends with as many digits")
    return int(last) - int(first) + 1
