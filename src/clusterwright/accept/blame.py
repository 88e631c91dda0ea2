"""Which nodes of a group spoil it: halves are tried until small groups are left, then each of these nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, islice

Works = Callable[[Sequence[str]], bool]
"""Whether these nodes, two or more, work together."""
_PAIRS_TRIED = 12
"""In search of one pair that works, where no half did."""


def find(nodes: Sequence[str], works: Works) -> tuple[str, ...]:
    """The nodes without which the rest works; `nodes` together do not.

    Empty where every part works and only the whole does not: no node is to blame, but what joins them. All,
    where no two of them work together.
    """
    suspects, well = _halved(nodes, works)
    if not suspects:
        return ()
    helper = well[0] if well else _one_that_works(nodes, suspects, works)
    if not helper:
        return tuple(suspects)
    return tuple(node for node in suspects if node != helper and not works((helper, node)))


def _halved(nodes: Sequence[str], works: Works) -> tuple[list[str], list[str]]:
    """Nodes that may be to blame, in their order, and nodes that were seen to work."""
    suspects: set[str] = set()
    well: list[str] = []
    failing = [tuple(nodes)]
    while failing:
        group = failing.pop()
        if len(group) == 2:
            suspects.update(group)
            continue
        middle = (len(group) + 1) // 2
        for half in (group[:middle], group[middle:]):
            if len(half) == 1:
                suspects.update(half)
            elif works(half):
                well += half
            else:
                failing.append(half)
    return [node for node in nodes if node in suspects], well


def _one_that_works(nodes: Sequence[str], suspects: Sequence[str], works: Works) -> str:
    """A node that works with some other; pairs that were tried as halves are not tried again."""
    if len(nodes) == 2:
        return ""
    pairs = islice(combinations(suspects, 2), _PAIRS_TRIED)
    return next((one for one, other in pairs if works((one, other))), "")
