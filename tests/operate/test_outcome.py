"""How work on a cluster is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusterwright.converge.result import NodeResult
from clusterwright.finding import Severity
from clusterwright.handoff import Handoff
from clusterwright.operate.outcome import Outcome
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source

EXAMPLE = Path(__file__).parents[2] / "clusters/onprem-workstations.yaml"


@pytest.fixture(scope="module")
def handoff() -> Handoff:
    return prepare(described(Source(EXAMPLE))).handoff


def test_what_the_site_keeps_is_one_note_for_nodes_that_are_alike(handoff: Handoff) -> None:
    other = ("package podman: 4.3.1 should be 5.0.0",)
    nodes = {
        "ws1": NodeResult("changed", observed=other),
        "ws2": NodeResult("ok", observed=("user ada: missing",)),
        "ws3": NodeResult("ok", observed=("user ada: missing",)),
        "ws4": NodeResult("ok"),
    }
    outcome = Outcome(handoff, nodes=nodes)
    assert outcome.ok
    assert [(one.where.path, one.code, one.severity) for one in outcome.observed] == [
        ("ws1", "CW8270", Severity.NOTE),
        ("ws[2-3]", "CW8270", Severity.NOTE),
    ]
    assert other[0] in outcome.observed[0].what


def test_of_much_that_differs_the_note_has_the_first_and_how_much_more(handoff: Handoff) -> None:
    lines = tuple(f"package p{number}: not installed" for number in range(6))
    [note] = Outcome(handoff, nodes={"ws1": NodeResult("ok", observed=lines)}).observed
    assert "package p3: not installed; and 2 more" in note.what and "p4" not in note.what
