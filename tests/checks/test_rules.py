"""Every rule: a description without findings, one thing changed, exactly this code at exactly this place.

A case is a change (a mapping merges, null removes, anything else replaces) of one of the bases beside it.
A base with a file of machines has it beside itself, and a case changes it under `machines.csv`: cells of a
node, null for its line, and `+` for lines more.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.checks import check, rules
from clusterwright.finding import Severity
from clusterwright.plan import plan
from clusterwright.spec.load import LoadedSpec, load, loads
from clusterwright.spec.machines import MachineFile, parse_machines
from clusterwright.spec.site import OnpremSite

HERE = Path(__file__).parent
BASES = sorted((HERE / "bases").glob("*.yaml"))
CASES = sorted((HERE / "cases").glob("*.yaml"))
CLUSTERS = HERE.parents[1] / "clusters"
EXAMPLES = [file for file in sorted(CLUSTERS.glob("*.yaml")) if not file.stem.endswith(".lock")]
_HEAD = re.compile(r"# base: (?P<base>\w+)\n# at: (?P<at>.+)\n")


def merged(base: Any, change: Any) -> Any:
    if not (isinstance(base, dict) and isinstance(change, dict)):
        return change
    both = {key: merged(base.get(key), change[key]) if key in change else base[key] for key in base}
    added = {key: value for key, value in change.items() if key not in base}
    return {key: value for key, value in (both | added).items() if value is not None}


def machines(base: Path, changes: dict[str, Any]) -> MachineFile:
    """The file of machines beside a base, with a case's changes."""
    rows = {row["node"]: row for row in csv.DictReader(base.read_text().splitlines())}
    heads = list(next(iter(rows.values())))
    added = changes.get("+", [])
    rows = {node: {**row, **(changes.get(node, {}) or {})} for node, row in rows.items()}
    kept = [row for node, row in rows.items() if changes.get(node, {}) is not None]
    lines = [heads, *([row[head] for head in heads] for row in kept), *(line.split(",") for line in added)]
    file, findings = parse_machines("\n".join(map(",".join, lines)), base.name)
    assert findings == []
    return file


def changed(case: Path) -> tuple[LoadedSpec, list[str]]:
    head = _HEAD.match(case.read_text())
    assert head, f"{case.name} does not begin with its base and its place"
    base, change = HERE / "bases" / f"{head['base']}.yaml", yaml.safe_load(case.read_text()) or {}
    cells = change.pop("machines.csv", {})
    body = merged(yaml.safe_load(base.read_text()), change)
    loaded = loads(yaml.safe_dump(body, sort_keys=False, width=10_000), case.name)
    if isinstance(loaded.spec.site, OnpremSite) and loaded.spec.site.machines:
        loaded.spec.site.know(machines(base.with_suffix(".csv"), cells))
    return loaded, head["at"].split()


@pytest.mark.parametrize("file", [*BASES, *EXAMPLES], ids=lambda file: file.stem)
def test_a_good_description_has_no_findings(file: Path) -> None:
    loaded = load(file)
    assert check(loaded.spec, loaded.where) == []
    assert plan(loaded.spec).nodes


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_one_change_gives_one_code(case: Path) -> None:
    loaded, places = changed(case)
    findings = check(loaded.spec, loaded.where)
    assert {finding.code for finding in findings} == {case.name.partition("-")[0]}
    assert sorted(finding.where.path for finding in findings) == places
    for finding in findings:
        assert finding.where.file in {case.name, "floor.csv"}
        assert finding.where.line
        assert not finding.what.endswith(".")
        assert not finding.remedy.endswith(".")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_what_is_only_a_risk_can_be_planned(case: Path) -> None:
    loaded, _ = changed(case)
    if all(finding.severity is not Severity.ERROR for finding in check(loaded.spec)):
        assert plan(loaded.spec).nodes


def test_every_rule_has_a_case() -> None:
    tried = {case.name.partition("-")[0] for case in CASES}
    assert {rule.code for rule in rules()} == tried


def test_rules_are_told_apart_and_explained() -> None:
    codes = [rule.code for rule in rules()]
    assert len(codes) == len(set(codes)) >= 30
    for rule in rules():
        assert re.fullmatch(r"CW1[2-8]\d\d", rule.code)
        assert rule.title and rule.text and rule.source and rule.example
        assert not rule.title.endswith(".")
