"""What a code means, for `clusterwright explain CODE`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clusterwright.checks.check import rules
from clusterwright.checks.live.rule import GAPS, LiveRule
from clusterwright.checks.live.rules import CONCERNS, live_rules
from clusterwright.checks.rule import Rule


@dataclass(frozen=True, slots=True)
class Explanation:
    """A code at length."""

    title: str
    text: str
    source: str
    example: str


def explanations() -> dict[str, Explanation]:
    """Every rule of this package by its code."""
    asked = (rule for provider in CONCERNS for rule in live_rules(provider))
    found = {rule.code: _explained(rule) for rule in rules()} | {
        rule.code: _explained(rule) for rule in asked
    }
    return found | {gap.code: Explanation(gap.title, gap.text, "", gap.example) for gap in GAPS.values()}


def _explained(rule: Rule | LiveRule[Any, Any]) -> Explanation:
    return Explanation(rule.title, f"{rule.text} ({rule.severity})", rule.source, rule.example)


def explain(code: str) -> Explanation | None:
    """What the code means, if a rule of this package has it."""
    return explanations().get(code.upper())
