"""The policy pack's rules: every example keeps all of them, and one change breaks the one that is meant."""

from __future__ import annotations

import copy
import json
import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from clusterwright.checks.resources import RULES, Resource, breaches
from synthesis.harness import UNKNOWN, Registered
from synthesis.test_programs import EXAMPLES, made

HERE = Path(__file__).parent
CASES = sorted((HERE / "cases").glob("*.yaml"))


def seen(one: Registered) -> Resource:
    properties = {path: value for path, value in one.inputs.items() if value != UNKNOWN}
    return Resource(one.urn, one.type, one.name, properties, bool(one.options.get("protect")), one.links)


@cache
def resources(shared: Path, file: Path) -> tuple[Resource, ...]:
    return tuple(seen(one) for one in made(shared, file, preview=True).resources if one.custom)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_every_example_keeps_every_rule(file: Path, shared: Path) -> None:
    assert breaches(RULES, resources(shared, file)) == []


def changed(one: Resource, case: dict[str, Any]) -> Resource | None:
    """One resource otherwise: a property set, an element of a list left out, unprotected, or gone."""
    if case.get("gone"):
        return None
    properties = json.loads(json.dumps(one.properties))
    for path, value in case.get("set", {}).items():
        *folder, last = path.split(".")
        place = properties
        for part in folder:
            place = place[int(part)] if isinstance(place, list) else place.setdefault(part, {})
        place[int(last) if isinstance(place, list) else last] = value
    for path in case.get("without", ()):
        *folder, last = path.split(".")
        place = properties
        for part in folder:
            place = place[part]
        del place[int(last) if isinstance(place, list) else last]
    links = {**one.links, **{path: tuple(keys) for path, keys in case.get("links", {}).items()}}
    return replace(one, properties=properties, links=links, protect=case.get("protect", one.protect))


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_one_change_breaks_the_rule_that_is_meant(file: Path, shared: Path) -> None:
    case = yaml.safe_load(file.read_text())
    [example] = [one for one in EXAMPLES if one.stem == case["example"]]
    before = resources(shared, example)
    assert case["resource"] in {one.key for one in before}
    after = [changed(one, case) if one.key == case["resource"] else one for one in copy.copy(before)]
    found = breaches(RULES, [one for one in after if one is not None])
    assert {(one.rule.name, one.key.rpartition("::")[2], one.what) for one in found} == {
        (case["rule"], name, case["what"]) for name in case["at"]
    }


def test_every_rule_has_a_case() -> None:
    assert {yaml.safe_load(file.read_text())["rule"] for file in CASES} == {one.name for one in RULES}
    assert all(one.text and one.remedy and one.source for one in RULES)


def test_the_pack_asks_these_rules_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    import pulumi_policy

    packs: list[dict[str, Any]] = []
    monkeypatch.setattr(
        pulumi_policy, "PolicyPack", lambda name, **said: packs.append({"name": name, **said})
    )
    pack = runpy.run_path(str(HERE.parents[1] / "policy/__main__.py"))
    assert [one.name for one in packs[0]["policies"]] == [one.name for one in RULES]

    machine = SimpleNamespace(
        resource_type="aws:ec2/instance:Instance",
        name="gpu-001",
        urn="urn:gpu-001",
        props={"metadataOptions": {"httpTokens": "optional"}, "rootBlockDevice": {"encrypted": True}},
        opts=SimpleNamespace(protect=False),
        property_dependencies={},
    )
    told: list[tuple[str, str]] = []
    [rule] = [one for one in RULES if one.name == "session-metadata"]
    pack["validate"](rule, SimpleNamespace(resources=[machine]), lambda *said: told.append(said))
    [(words, urn)] = told
    assert urn == "urn:gpu-001"
    assert words.startswith("gpu-001: its metadata service answers without a session")
