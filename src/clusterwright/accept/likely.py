"""Likely causes of what is broken, ranked, from logs, Slurm's reasons, unit states and gate reports."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from clusterwright.accept.result import GateResult

LINES_KEPT = 3
"""Evidence shown per cause: enough to believe it."""
LENGTH_KEPT = 240
_NAMED = re.compile(r"\b[Nn]ode(?:s|Name)?[ =]([a-z][a-z0-9-]*)")
# Ansible logs the arguments of its modules, sudo its commands: they quote texts, and report nothing.
_QUOTED = re.compile(r"\bansible-[\w.]+\[\d+\]: Invoked with |\bCOMMAND=")


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
    nodes = {text.node for text in texts}
    found = [cause for rule in rules() if (cause := _cause(rule, texts, nodes)) is not None]
    return sorted(found, key=lambda cause: (-cause.weight, -len(cause.nodes), cause.name))


def of_gates(gates: Iterable[GateResult]) -> list[Evidence]:
    """Failed gates as evidence, one line each."""
    failed = [gate for gate in gates if gate.status == "fail"]
    return [
        Evidence(gate.node, "gate", f"gate {gate.name}: expected {gate.expected}, seen {gate.seen}")
        for gate in failed
    ]


def of_report(node: str, text: str) -> Evidence:
    """What a node's own gates left in gate.json: the failed ones, one line each."""
    try:
        failed = [row for row in json.loads(text)["gates"] if row["status"] == "fail"]
        lines = [f"gate {row['name']}: expected {row['expected']}, seen {row['seen']}" for row in failed]
    except (ValueError, KeyError, TypeError):
        return Evidence(node, "gate", text)
    return Evidence(node, "gate", "\n".join(lines))


def _cause(rule: Rule, texts: list[Evidence], nodes: Container[str]) -> LikelyCause | None:
    lines = [
        Evidence(_about(line, nodes) or text.node, text.origin, _clipped(line, match))
        for text in texts
        if rule.pattern.search(text.text)
        for line in text.text.splitlines()
        if (match := rule.pattern.search(line)) and not _QUOTED.search(line)
    ]
    if not lines:
        return None
    latest = {(line.node, line.text): line for line in lines}
    return LikelyCause(
        name=rule.name,
        cause=rule.cause,
        remedy=rule.remedy,
        source=rule.source,
        weight=rule.weight,
        nodes=tuple(sorted({line.node for line in lines})),
        count=len(lines),
        evidence=tuple(latest.values())[-LINES_KEPT:],
    )


def _about(line: str, nodes: Container[str]) -> str:
    """The node that a controller's line is about; empty when it names none."""
    return next((name for name in _NAMED.findall(line) if name in nodes), "")


def _clipped(line: str, match: re.Match[str]) -> str:
    """The line, or of a long one what stands around the match."""
    line, start = line.strip(), match.start()
    if len(line) <= LENGTH_KEPT:
        return line
    first = max(0, start - LENGTH_KEPT // 2)
    return f"... {line[first : first + LENGTH_KEPT]} ..."
