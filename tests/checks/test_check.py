"""The door: all findings at once, in the order of the file."""

from __future__ import annotations

from pathlib import Path

from clusterwright.checks import check
from clusterwright.finding import Severity
from clusterwright.plan.model import Ground
from clusterwright.spec.load import loads

SMALL = (Path(__file__).parent / "bases" / "small.yaml").read_text()


def test_all_findings_come_at_once_in_the_order_of_the_file() -> None:
    text = SMALL.replace("generic-x86-16c}", "generic-x86-16}").replace(
        "{rest: true}", "{options: {Killwat: 1}}"
    )
    loaded = loads(text, "small.yaml")
    findings = check(loaded.spec, loaded.where)
    assert [(finding.code, finding.where.line) for finding in findings] == [
        ("CW1221", 4),
        ("CW1242", 6),
    ]
    assert str(findings[0]).startswith("small.yaml:4:")
    assert "generic-x86-16c" in findings[0].remedy


def test_without_a_file_a_finding_names_its_field() -> None:
    spec = loads(SMALL.replace("machine: generic-x86-16c, count", "machine: nothing, count")).spec
    (finding,) = check(spec)
    assert str(finding.where) == "pools.work.machine"


def test_the_network_that_the_ground_picked_counts() -> None:
    spec = loads(SMALL).spec
    (finding,) = check(spec, ground={"main": Ground(network="10.9.0.0/30")})
    assert finding.code == "CW1211"


def test_checking_never_raises_where_planning_would() -> None:
    text = SMALL.replace("generic-x86-16c", "nothing").replace("{rest: true}", "{release: '23.11'}")
    findings = check(loads(text).spec)
    assert {finding.code for finding in findings} == {"CW1221", "CW1251"}
    assert all(finding.severity is Severity.ERROR for finding in findings)


def test_a_machine_that_is_a_domain_of_its_own_needs_no_block() -> None:
    google = (Path(__file__).parent / "bases" / "google.yaml").read_text()
    assert check(loads(google.replace("a3-ultragpu-8g", "a2-megagpu-16g")).spec) == []
