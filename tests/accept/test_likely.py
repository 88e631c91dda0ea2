"""Causes: every rule finds its sample, and the journals of faults made on purpose name the fault first."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clusterwright.accept.likely import Evidence, Rule, likely, of_gates, of_report, rules
from clusterwright.accept.result import GateResult

JOURNALS = sorted((Path(__file__).parent / "journals").glob("*.txt"))


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.name)
def test_each_rule_finds_the_line_that_its_program_prints(rule: Rule) -> None:
    assert rule.pattern.search(rule.sample)
    assert rule.cause and rule.remedy and rule.source
    assert 0 < rule.weight < 100


@pytest.mark.parametrize("journal", JOURNALS, ids=lambda path: path.stem)
def test_a_fault_made_on_purpose_is_named_first(journal: Path) -> None:
    """Journals of slurmctld, slurmd and slurmdbd 24.11 after each fault; the file's name is the cause."""
    causes = likely([Evidence("gpu-002", "journal", journal.read_text())])
    assert causes[0].name == journal.stem.split("--")[0]
    assert causes[0].evidence


def test_there_are_many_rules_with_names_of_their_own() -> None:
    names = [rule.name for rule in rules()]
    assert len(names) >= 50
    assert len(set(names)) == len(names)


def test_a_healthy_journal_has_no_cause(captured: Path) -> None:
    healthy = "slurmd: slurmd version 24.11.5 started\nslurmd: CPUs=192 Boards=1 Sockets=2 Memory=24103\n"
    texts = [healthy, *(path.read_text() for path in captured.glob("nodes-[ib]*.txt"))]
    assert likely(Evidence("gpu-001", "journal", text) for text in texts) == []


def test_the_root_comes_before_what_it_explains_and_widespread_before_single() -> None:
    full = "slurmd: error: _write_conf: error writing config: No space left on device"
    failed = "slurmd.service: Failed with result 'exit-code'."
    lost = "slurmctld: error: Nodes gpu-003 not responding, setting DOWN"
    causes = likely(
        [
            Evidence("gpu-001", "journal", f"{failed}\n{full}"),
            Evidence("gpu-002", "journal", f"{failed}\n{full}\n{full}"),
            Evidence("controller", "journal", lost),
        ]
    )
    assert [cause.name for cause in causes] == ["disk-full", "not-responding", "unit-failed"]
    assert causes[0].nodes == ("gpu-001", "gpu-002")
    assert causes[0].count == 3
    assert [line.text for line in causes[0].evidence] == [full, full]


def test_texts_that_are_only_quoted_are_no_evidence() -> None:
    quoted = (
        "ansible-clusterwright.cluster.node[81]: Invoked with files=[{'content': 'Read-only file system'}]"
    )
    assert likely([Evidence("login", "journal", quoted)]) == []


def test_a_controllers_line_is_about_the_node_that_it_names() -> None:
    line = "slurmctld: update_node: node gpu-002 reason set to: Kill task failed"
    texts = [Evidence("controller", "journal", line), Evidence("gpu-002", "journal", "")]
    assert likely(texts)[0].nodes == ("gpu-002",)


def test_a_long_line_is_clipped_around_what_was_found() -> None:
    [cause] = likely([Evidence("n", "journal", "x" * 5000 + " Stale file handle " + "y" * 5000)])
    assert "Stale file handle" in cause.evidence[0].text
    assert len(cause.evidence[0].text) < 300


def test_failed_gates_are_evidence() -> None:
    gates = [
        GateResult("gpus", "gpu-001", "pass", "8", "8"),
        GateResult("gpus", "gpu-002", "fail", "8 x NVIDIA H100", "7 GPUs by nvidia-smi", "look"),
    ]
    [cause] = likely(of_gates(gates))
    assert (cause.name, cause.nodes) == ("gpu-gate", ("gpu-002",))


def test_what_a_nodes_own_gates_left_is_evidence() -> None:
    rows = [
        {"name": "gpus", "status": "pass", "expected": "", "seen": "8 x NVIDIA H100"},
        {"name": "fabric-cards", "status": "fail", "expected": "8 cards", "seen": "7 of them"},
    ]
    found = of_report("gpu-001", json.dumps({"gates": rows}))
    assert found.text == "gate fabric-cards: expected 8 cards, seen 7 of them"
    assert [cause.name for cause in likely([found])] == ["fabric-card"]
    assert of_report("gpu-001", "cut off").text == "cut off"


def test_no_pattern_takes_forever() -> None:
    long = Evidence("n", "journal", "a" * 200_000 + "\n" + "NVRM: Xid (" * 5_000)
    assert likely([long]) == []
    assert not any(re.search(r"\([^)]*[+*]\)[+*]", rule.pattern.pattern) for rule in rules())
