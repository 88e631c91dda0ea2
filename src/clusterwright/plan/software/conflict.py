"""When there is no answer: the smallest set of facts and wishes that cannot be true together, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from clusterwright.finding import Where
from clusterwright.plan.software.problem import Problem, component_of, pool_of
from clusterwright.plan.software.question import Given
from clusterwright.plan.software.reason import (
    Between,
    BuiltFor,
    Carried,
    Machine,
    OneVersion,
    Reason,
    Wished,
)
from clusterwright.plan.software.search import search
from clusterwright.plan.software.wish import Wish

T = TypeVar("T")
_FIRST_TO_GO = (Carried, OneVersion, BuiltFor, Given, Between, Machine, Wished)
"""Where one of several facts would do, wishes and machines say more to a person than tables."""
_TOLD = (Machine, Between, BuiltFor, OneVersion, Given, Carried, Wished)


def conflict(problem: Problem) -> tuple[Reason, ...]:
    """Reasons of a problem without an answer; take any away, and there is one."""
    narrow = _narrowed(_narrowed(problem, pool_of), component_of)
    reasons = sorted(narrow.reasons, key=lambda reason: _FIRST_TO_GO.index(type(reason)))
    few = smallest(reasons, lambda some: search(narrow.only(set(some))) is None)
    # A pool that was left out may fail for fewer of them.
    found = smallest(few, lambda some: search(problem.only(set(some))) is None)
    return tuple(sorted(found, key=lambda reason: _TOLD.index(type(reason))))


def _narrowed(problem: Problem, part_of: Callable[[str], str]) -> Problem:
    """Few pools, or few components, that fail by themselves; what nobody wished for is left out first."""
    wished = {part_of(one.target) for one in problem.demands if isinstance(one.reason, Wished)}
    parts = sorted({part_of(key) for key in problem.candidates} - {""}, reverse=True)
    parts.sort(key=lambda part: part in wished)

    def about(kept: Sequence[str]) -> Problem:
        return problem.about(lambda identifier: part_of(identifier) in {"", *kept})

    return about(smallest(parts, lambda kept: search(about(kept)) is None))


def smallest(items: Sequence[T], fails: Callable[[Sequence[T]], bool]) -> list[T]:
    """Items that fail together, none of which can be left out. Tries halves first, then quarters …"""
    kept = list(items)
    size = len(kept)
    while size > 1:
        size = (size + 1) // 2
        for chunk in _chunks(kept, size):
            rest = [item for item in kept if item not in chunk]
            if fails(rest):
                kept = rest
    return kept


def _chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])


def sentence(reasons: Sequence[Reason]) -> str:
    """All of it in one sentence, facts before wishes."""
    facts = dict.fromkeys(str(reason) for reason in reasons if not isinstance(reason, Wished))
    asked = [f"{wish} ({position(wish.where)})" for wish in wishes_of(reasons)]
    return "; ".join([*facts, *([f"you asked for {' and '.join(asked)}"] if asked else [])])


def wishes_of(reasons: Sequence[Reason]) -> tuple[Wish, ...]:
    return tuple(reason.wish for reason in reasons if isinstance(reason, Wished))


def position(where: Where) -> str:
    """`cluster.yaml:4:2`, or the field where no file is known."""
    return f"{where.file}:{where.line}:{where.column}" if where.line else where.path
