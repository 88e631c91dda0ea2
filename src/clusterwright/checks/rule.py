"""What a rule is: a function with a code, a title and the source of the fact behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import cleandoc

from clusterwright.finding import Severity, Where
from clusterwright.plan.outline import Outline


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule met, and at which field."""

    path: str
    what: str
    remedy: str
    place: Where | None = None
    """In a file beside the description; None for the place of `path` in the description itself."""


Test = Callable[[Outline], Iterator[Problem]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is wrong with a description, or risky."""

    code: str
    title: str
    text: str
    """Why it matters: the function's docstring."""
    source: str
    example: str
    """A description, as far as it matters, that breaks the rule."""
    severity: Severity
    test: Test


def rule(
    code: str, title: str, *, source: str, example: str, severity: Severity = Severity.ERROR
) -> Callable[[Test], Rule]:
    """Turn a function from outlines to problems into a Rule."""

    def declare(test: Test) -> Rule:
        return Rule(code, title, cleandoc(test.__doc__ or ""), source, example, severity, test)

    return declare
