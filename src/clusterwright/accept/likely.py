"""Likely causes of what is broken, ranked, from logs, Slurm's reasons, unit states and gate reports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from clusterwright.accept.result import GateResult

LINES_KEPT = 3
"""Evidence shown per cause: enough to believe it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Text of one origin (`journal slurmd`, `reason`, `gate`, `console`) of one node; many lines or one."""

    node: str
    origin: str
    text: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of data/causes.yaml."""

    name: str
    pattern: re.Pattern[str]
    cause: str
    remedy: str
    weight: int
    sample: str
    source: str


@dataclass(frozen=True, slots=True)
class LikelyCause:
    """A cause, on which nodes, how often, and the latest lines that speak for it."""

    name: str
    cause: str
    remedy: str
    source: str
    weight: int
    nodes: tuple[str, ...]
    count: int
    evidence: tuple[Evidence, ...]


@cache
def rules() -> tuple[Rule, ...]:
    import yaml

    text = resources.files("clusterwright.accept").joinpath("data", "causes.yaml").read_text()
    rows = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return tuple(Rule(**{**row, "pattern": re.compile(row["pattern"])}) for row in rows)


def likely(evidence: Iterable[Evidence]) -> list[LikelyCause]:
    """Most likely first: what explains most others, then what the most nodes show."""
    texts = list(evidence)
    found = [cause for rule in rules() if (cause := _cause(rule, texts)) is not None]
    return sorted(found, key=lambda cause: (-cause.weight, -len(cause.nodes), cause.name))


def of_gates(gates: Iterable[GateResult]) -> list[Evidence]:
    """Failed gates as evidence, one line each."""
    failed = [gate for gate in gates if gate.status == "fail"]
    return [
        Evidence(gate.node, "gate", f"gate {gate.name}: expected {gate.expected}, seen {gate.seen}")
        for gate in failed
    ]


def _cause(rule: Rule, texts: list[Evidence]) -> LikelyCause | None:
    lines = [
        Evidence(text.node, text.origin, line)
        for text in texts
        if rule.pattern.search(text.text)
        for line in text.text.splitlines()
        if rule.pattern.search(line)
    ]
    if not lines:
        return None
    nodes = tuple(sorted({line.node for line in lines}))
    latest = {(line.node, line.text.strip()): line for line in lines}
    shown = tuple(latest.values())[-LINES_KEPT:]
    return LikelyCause(rule.name, rule.cause, rule.remedy, rule.source, rule.weight, nodes, len(lines), shown)
