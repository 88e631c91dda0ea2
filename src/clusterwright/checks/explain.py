"""What a code means, for `clusterwright explain CODE`."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.checks.check import rules


@dataclass(frozen=True, slots=True)
class Explanation:
    """A code at length."""

    title: str
    text: str
    source: str
    example: str


def explanations() -> dict[str, Explanation]:
    """Every rule of this package by its code."""
    return {
        rule.code: Explanation(rule.title, f"{rule.text} ({rule.severity})", rule.source, rule.example)
        for rule in rules()
    }


def explain(code: str) -> Explanation | None:
    """What the code means, if a rule of this package has it."""
    return explanations().get(code.upper())
