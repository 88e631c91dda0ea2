"""DCGM's diagnostics of level 1: seconds, no load on the GPUs. Higher levels take minutes to hours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from clusterwright.accept.result import GateResult, judged
from clusterwright.accept.session import Session
from clusterwright.handoff import Node

GATE = "dcgm-diag"
SECONDS = 45.0
"""`dcgmi diag` has hung on 8-GPU nodes (aws-parallelcluster issue 6777), and nothing may hang with it."""


def diagnose(session: Session, node: Node) -> GateResult:
    """`dcgmi diag -r 1` of a node: nothing that DCGM warns of."""
    expected = "DCGM's diagnostics of level 1 pass"
    ran = session.run("dcgmi", "diag", "-r", "1", "-j", timeout=SECONDS)
    warnings = failures(ran.output)
    if warnings is None:
        remedy = "Look at `systemctl status nvidia-dcgm` and run `dcgmi diag -r 1` by hand"
        seen = f"no answer in {SECONDS:.0f} s" if ran.code == 124 else ran.complaint
        return GateResult(GATE, node.name, "fail", expected, seen, remedy, round(ran.seconds, 3))
    return judged(
        GATE,
        node.name,
        not warnings,
        expected=expected,
        seen="; ".join(warnings) or "passed",
        remedy="Drain the node; `dcgmi diag -r 3` says more (15 minutes, and no jobs meanwhile)",
    )


def failures(text: str) -> list[str] | None:
    """What failed, in DCGM's words; None when this is no report. DCGM 3 and 4 differ in their first key."""
    try:
        document = json.loads(text[text.index("{") :])
        body = next(value for key, value in document.items() if key.startswith("DCGM"))
        categories = body["test_categories"]
    except (ValueError, StopIteration, KeyError, TypeError, AttributeError):
        return None
    return sorted(set(_failed(categories)))


def _failed(categories: list[dict[str, Any]]) -> Iterator[str]:
    for category in categories:
        for test in category.get("tests", []):
            for result in test.get("results", []):
                if result.get("status", "").lower() == "fail":
                    yield from _words(test.get("name", "a test"), result)


def _words(test: str, result: dict[str, Any]) -> list[str]:
    """DCGM 4 has a list of objects, DCGM 3 one text."""
    warnings = result.get("warnings") or result.get("info") or "failed"
    if isinstance(warnings, str):
        return [f"{test}: {warnings}"]
    texts = (row["warning"] if isinstance(row, dict) else str(row) for row in warnings)
    return [f"{test}: {text}" for text in texts]
