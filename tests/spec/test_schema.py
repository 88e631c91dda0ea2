"""The JSON Schema and the reference are current, and an editor says what the loader says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from clusterwright.spec import reference, schema
from clusterwright.spec.forms import FORMS
from clusterwright.spec.init import template, templates

ROOT = Path(__file__).parents[2]
EXAMPLES = [file for file in sorted((ROOT / "clusters").glob("*.yaml")) if not file.stem.endswith(".lock")]
BAD = ROOT / "tests" / "fixtures" / "descriptions" / "bad"
SHAPE = ("CW1101", "CW1102", "CW1104", "CW1105", "CW1106", "CW1107", "CW1110")
"""Codes whose rule a JSON Schema can express, whatever the file; wrong types are chosen below."""


@pytest.fixture(scope="module")
def validator() -> jsonschema.protocols.Validator:
    body = json.loads((ROOT / schema.FILE).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(body)
    return jsonschema.Draft202012Validator(body)


def test_the_committed_schema_is_current() -> None:
    remedy = "run `python -m clusterwright.spec.schema`"
    assert (ROOT / schema.FILE).read_text(encoding="utf-8") == schema.text(), remedy


def test_the_committed_reference_is_current() -> None:
    remedy = "run `python -m clusterwright.spec.reference`"
    assert (ROOT / reference.FILE).read_text(encoding="utf-8") == reference.text(), remedy


def test_every_field_and_noun_says_what_it_is() -> None:
    for noun in (schema.schema(), *schema.schema()["$defs"].values()):
        assert noun["description"]
        for field in noun.get("properties", {}).values():
            assert field["description"]


def test_every_pattern_has_its_words() -> None:
    assert patterns(schema.schema()) - quantities(schema.schema()) == set(FORMS)


def patterns(part: Any) -> set[str]:
    if isinstance(part, list):
        return {found for one in part for found in patterns(one)}
    if not isinstance(part, dict):
        return set()
    own = {part["pattern"]} if isinstance(part.get("pattern"), str) else set()
    own |= set(part.get("patternProperties", {}))
    return own | {found for one in part.values() for found in patterns(one)}


def quantities(part: Any) -> set[str]:
    if isinstance(part, list):
        return {found for one in part for found in quantities(one)}
    if not isinstance(part, dict):
        return set()
    own = {part["pattern"]} if "x-kind" in part and "pattern" in part else set()
    return own | {found for one in part.values() for found in quantities(one)}


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_editor_accepts_the_examples(file: Path, validator: jsonschema.protocols.Validator) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith(f"# yaml-language-server: $schema=../{schema.FILE}\n")
    validator.validate(yaml.safe_load(text))


@pytest.mark.parametrize("name", templates())
def test_an_editor_accepts_the_templates(name: str, validator: jsonschema.protocols.Validator) -> None:
    validator.validate(yaml.safe_load(template(name)))


def test_an_editor_accepts_a_release_without_quotes(validator: jsonschema.protocols.Validator) -> None:
    body = yaml.safe_load((ROOT / "clusters/lab.yaml").read_text(encoding="utf-8"))
    for release in (22.05, "22.05"):
        validator.validate({**body, "scheduler": {"release": release}})


def expressible() -> list[Path]:
    files = []
    for expected in sorted(BAD.glob("*.expected")):
        codes = [line.split()[1] for line in expected.read_text(encoding="utf-8").splitlines()]
        if all(code in SHAPE for code in codes) or expected.stem.startswith("type-"):
            files.append(expected.with_suffix(".yaml"))
    return [file for file in files if file.stem not in ("quantity-nothing", "quantity-too-much")]


@pytest.mark.parametrize("file", expressible(), ids=lambda file: file.stem)
def test_an_editor_refuses_what_the_loader_refuses(
    file: Path, validator: jsonschema.protocols.Validator
) -> None:
    assert not validator.is_valid(yaml.safe_load(file.read_text(encoding="utf-8")))
