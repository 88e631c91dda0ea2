"""Every live rule: an account without findings, one thing changed, exactly this code at exactly this place.

A base is a description and one recorded look at its account; a case changes the one or the other.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter

from clusterwright.checks.live.answer import Unanswered
from clusterwright.checks.live.aws_seen import AwsSeen
from clusterwright.checks.live.gcp_seen import GcpSeen
from clusterwright.checks.live.rule import GAPS, Verdict, judge
from clusterwright.checks.live.rules import CONCERNS, live_rules
from clusterwright.checks.live.subject import Subject
from clusterwright.finding import Severity, Where
from clusterwright.plan import plan
from clusterwright.plan.aws import aws_plan
from clusterwright.plan.gcp import gcp_plan
from clusterwright.spec.load import loads

from ..test_rules import merged

HERE = Path(__file__).parent
BASES = {file.stem: file for file in sorted((HERE / "bases").glob("*.yaml"))}
CASES = sorted((HERE / "cases").glob("*.yaml"))
_HEAD = re.compile(r"# base: (?P<base>\w+)\n# at: (?P<at>.+)\n")
SEEN = {"aws": TypeAdapter(AwsSeen), "gcp": TypeAdapter(GcpSeen)}
RULES = {rule.code: rule for provider in CONCERNS for rule in live_rules(provider)}


def judged(body: Any, **changes: Any) -> Verdict:
    loaded = loads(yaml.safe_dump(body["description"], sort_keys=False, width=10_000))
    planned = plan(loaded.spec)
    provider = planned.sites[0].provider
    cloud = aws_plan(planned) if provider == "aws" else gcp_plan(planned)
    seen = replace(SEEN[provider].validate_python(body["seen"]), **changes)
    subject = Subject(planned, cloud)
    return judge(live_rules(provider), subject, seen, _where, subject.site_field("region"))


def _where(path: str) -> Where:
    return Where(path=path)


@pytest.mark.parametrize("base", BASES)
def test_an_account_with_room_has_no_findings(base: str) -> None:
    verdict = judged(yaml.safe_load(BASES[base].read_text()))
    assert verdict.findings == ()
    assert {outcome.result for outcome in verdict.outcomes} == {"passed", "nothing to ask"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_one_change_gives_one_code(case: Path) -> None:
    head = _HEAD.match(case.read_text())
    assert head, f"{case.name} does not begin with its base and its place"
    base = yaml.safe_load(BASES[head["base"]].read_text())
    verdict = judged(merged(base, yaml.safe_load(case.read_text())))
    code = case.name.partition("-")[0]
    assert {finding.code for finding in verdict.findings} == {code}, verdict.findings
    assert sorted(finding.where.path for finding in verdict.findings) == head["at"].split()
    results = {outcome.code: outcome.result for outcome in verdict.outcomes if outcome.result == "failed"}
    assert results == ({code: "failed"} if code in RULES else {})
    for finding in verdict.findings:
        assert not finding.what.endswith(".") and not finding.remedy.endswith(".")


def test_every_rule_has_a_case() -> None:
    tried = {case.name.partition("-")[0] for case in CASES}
    assert tried == set(RULES) | {gap.code for gap in GAPS.values()}


def test_rules_are_told_apart_and_explained() -> None:
    assert len(RULES) == sum(len(live_rules(provider)) for provider in CONCERNS)
    for rule in RULES.values():
        assert re.fullmatch(r"CW1(4\d|57)\d", rule.code)
        assert rule.title and rule.text and rule.source and rule.example and rule.needs
        assert not rule.title.endswith(".")


def test_a_missing_permission_skips_what_needs_it_and_nothing_else() -> None:
    body = yaml.safe_load(BASES["aws"].read_text())
    denied = Unanswered("permission", "ec2:DescribeCapacityReservations", "not authorized")
    verdict = judged(body, reservations=denied, unused=denied)
    skipped = {outcome.code: outcome.why for outcome in verdict.outcomes if outcome.result == "skipped"}
    assert set(skipped) == {*("CW1403", "CW1405", "CW1406", "CW1407", "CW1408", "CW1409", "CW1570", "CW1571")}
    assert set(skipped.values()) == {"no permission: ec2:DescribeCapacityReservations"}
    (finding,) = verdict.findings
    assert (finding.code, finding.severity) == ("CW1490", Severity.WARNING)
    assert "ec2:DescribeCapacityReservations" in finding.what
