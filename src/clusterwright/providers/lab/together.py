"""One piece of work on many nodes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from clusterwright.finding import Finding, Refused

Item = TypeVar("Item")
_AT_ONCE = 16


def each(work: Callable[[Item], Finding | None], items: Sequence[Item]) -> list[Finding]:
    """Do the work for all at once; every item gets its turn before the findings come back."""
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return [finding for findings in pool.map(partial(_found, work), items) for finding in findings]


def _found(work: Callable[[Item], Finding | None], item: Item) -> list[Finding]:
    try:
        finding = work(item)
    except Refused as refused:
        return list(refused.findings)
    return [finding] if finding else []
