"""A description's cables, and the fabric that answers held against them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from clusterwright.accept.wired import Illegible, compare, read, read_states
from clusterwright.checks import check
from clusterwright.finding import Finding, Refused, Severity, Where, refuse
from clusterwright.operate.prepare import described
from clusterwright.operate.program import Failed, run
from clusterwright.operate.source import Source
from clusterwright.plan.outline import Outline
from clusterwright.plan.wiring import Wiring, wiring


@dataclass(frozen=True)
class Seen:
    """What InfiniBand's tools printed: files, `-` for standard input, or None to run them here."""

    discovered: str | None = None
    links: str | None = None
    names: Path | None = None
    """A node-name-map for the tools: GUIDs of switches with their names."""


@dataclass(frozen=True)
class Verified:
    """A fabric held against its description."""

    wiring: Wiring
    links: int
    """Links that answered."""
    findings: tuple[Finding, ...]
    unseen: int = 0
    """Cables that nobody was asked about at either end."""

    @property
    def ok(self) -> bool:
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def cables(source: Source) -> tuple[Wiring, tuple[Finding, ...]]:
    """The cables of a description, and its warnings. Raises Refused for mistakes, or without switches."""
    description = described(source)
    findings = (*description.notes, *check(description.spec, description.loaded.where))
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise Refused(findings)
    made = wiring(Outline(description.spec, {}))
    if made is None:
        remedy = "Add `fabric: {switches: {model: …}}`; `clusterwright explain fabric.switches` says more"
        raise refuse("CW8110", description.loaded.where("fabric"), "it describes no switches", remedy)
    return made, findings


def kind_of(source: Source) -> str:
    """`infiniband` or `ethernet`. Raises Refused as `cables` does."""
    return cables(source)[0].design.models.leaf.kind


def verify(source: Source, seen: Seen) -> Verified:
    """Compare. Raises Refused where the tools cannot run, or what they printed cannot be read."""
    made, _ = cables(source)
    text = _text(seen.discovered) if seen.discovered else _asked("ibnetdiscover", seen)
    try:
        found = read(text, made.by_name)
    except Illegible as problem:
        where, remedy = (
            Where(path=seen.discovered or "ibnetdiscover"),
            "Give what `ibnetdiscover` printed, whole",
        )
        raise refuse("CW8111", where, f"this is not the output of ibnetdiscover: {problem}", remedy) from None
    states = _text(seen.links) if seen.links else "" if seen.discovered else _asked("iblinkinfo", seen)
    return Verified(made, len(found.links) // 2, tuple(compare(made, found, read_states(states))))


def _asked(tool: str, seen: Seen) -> str:
    words = {"ibnetdiscover": [], "iblinkinfo": ["--line", "--switches-only"]}[tool]
    named = ["--node-name-map", str(seen.names)] if seen.names else []
    try:
        return run([tool, *words, *named])
    except Failed as problem:
        remedy = (
            "Run it on a node with a card on this fabric, or give what it printed there with --discovered"
        )
        raise refuse("CW8112", Where(path=tool), f"{tool} failed: {problem}", remedy) from None


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(errors="replace")
    except OSError as problem:
        remedy = "Give a file with what the tool printed, or `-`"
        raise refuse("CW8113", Where(path=path), f"it cannot be read: {problem.strerror}", remedy) from None
