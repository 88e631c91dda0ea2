"""Turns the validator's errors into findings that a person understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from itertools import islice

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from clusterwright.finding import Finding
from clusterwright.spec import shape
from clusterwright.spec.document import Document, Path, shown
from clusterwright.spec.forms import FORMS
from clusterwright.spec.schema import Schema, schema

MAX_ERRORS = 1000
"""More are never shown; a hostile file may hold a hundred thousand."""

Words = tuple[str, str, str]
"""Code, what is wrong, what to do."""


def findings_of(error: ValidationError, document: Document) -> list[Finding]:
    """One finding per place, leaving out places that the reader of the text has refused already."""
    refused = {finding.where for finding in document.findings}
    found: dict[tuple[str, int, int], Finding] = {}
    for details in islice(error.errors(include_url=False), MAX_ERRORS):
        path, of_key = _path(details["loc"], document.value)
        if details["type"] in ("union_tag_invalid", "union_tag_not_found"):
            path = (*path, details["ctx"]["discriminator"].strip("'"))
        where = document.where(path, key=of_key or details["type"] == "extra_forbidden")
        if where not in refused:
            code, what, remedy = _words(details, path, of_key)
            found.setdefault((where.path, where.line, where.column), Finding(code, where, what, remedy))
    return list(found.values())


def _path(loc: tuple[str | int, ...], value: object) -> tuple[Path, bool]:
    """The path in the file (the validator's own has union members in it), and whether a key is meant."""
    parts = [schema()]
    path: list[str | int] = []
    for step in loc:
        if step == "[key]":
            return tuple(path), True
        tagged = [part for part in parts if "discriminator" in shape.follow(part)]
        if tagged:
            member = shape.follow(tagged[0])["discriminator"]["mapping"][step]
            parts = [{"$ref": member}]
            continue
        below = [found for part in parts for found in shape.child(part, step)]
        if not below and not any(shape.keys(part) for part in parts):
            break
        parts = below
        path.append(step)
    if isinstance(_found(value, tuple(path[:-1])), str) and path and isinstance(path[-1], int):
        path.pop()
    return tuple(path), False


def _found(value: object, path: Path) -> object:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step]
    return value


def _words(details: ErrorDetails, path: Path, of_key: bool) -> Words:
    say = _WORDS.get(details["type"], _other)
    code, what, remedy = say(details, path)
    return (
        code,
        f"the name {what}" if of_key and details["type"] != "string_pattern_mismatch" else what,
        remedy,
    )


def _name(path: Path) -> str:
    return f"'{path[-1]}'" if path else "the description"


def _unknown_key(_details: ErrorDetails, path: Path) -> Words:
    known = [key for part in shape.at(path[:-1]) for key in shape.keys(part)]
    close = get_close_matches(str(path[-1]), known, n=1, cutoff=0.6)
    remedy = f"Did you mean '{close[0]}'?" if close else f"Known here: {', '.join(dict.fromkeys(known))}"
    return "CW1101", f"unknown key {shown(path[-1])}", remedy


def _missing(_details: ErrorDetails, path: Path) -> Words:
    about = next((shape.follow(part).get("description", "") for part in shape.at(path)), "")
    return "CW1102", f"{_name(path)} is missing", f"Add it. {about}".strip()


def _needs(kind: str) -> Callable[[ErrorDetails, Path], Words]:
    def words(details: ErrorDetails, path: Path) -> Words:
        value = details["input"]
        what = f"{_name(path)} needs {kind}, not {_kind(value)}"
        if value is None:
            return "CW1103", f"{_name(path)} is empty", f"Give it {kind}, or remove it"
        if (isinstance(value, str) and value.lstrip("-").isdecimal()) or value in ("true", "false"):
            return "CW1103", what, "Remove the quotes"
        if kind == "text" and isinstance(value, int):
            return "CW1103", what, "Put it in quotes"
        return "CW1103", what, f"Give it {kind}{_example(path)}"

    return words


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return f"the text {shown(value)}" if isinstance(value, str) else shown(value)


def _example(path: Path) -> str:
    examples = [one for part in shape.at(path) for one in shape.follow(part).get("examples", [])]
    return f", for instance `{examples[0]}`" if examples else ""


def _range(details: ErrorDetails, path: Path) -> Words:
    bounds = [one for part in shape.at(path) for one in shape.alternatives(part)]
    least = next((one["minimum"] for one in bounds if "minimum" in one), None)
    most = next((one["maximum"] for one in bounds if "maximum" in one), None)
    remedy = f"Give {least} or more" if most is None else f"Give {least} to {most}"
    return "CW1104", f"{_name(path)} is out of range: {shown(details['input'])}", remedy


def _one_of(details: ErrorDetails, path: Path) -> Words:
    choices = [str(one) for part in shape.at(path) for one in _choices(part)]
    value = details["input"]
    return "CW1105", f"{_name(path)} cannot be {_kind(value)}", _suggest(str(value), choices)


def _choices(part: Schema) -> list[object]:
    found: list[object] = []
    for one in shape.alternatives(part):
        found += [choice for choice in one.get("enum", []) if not isinstance(choice, float)]
        found += [one["const"]] if "const" in one else []
        found += _choices(one["items"]) if "items" in one else []
    return found


def _suggest(value: str, choices: list[str]) -> str:
    choices = list(dict.fromkeys(choices))
    close = get_close_matches(value.lower(), choices, n=1, cutoff=0.6)
    known = f"One of: {', '.join(choices)}"
    return f"Did you mean '{close[0]}'? {known}" if close else known


def _tag(details: ErrorDetails, path: Path) -> Words:
    choices = [choice for part in shape.at(path) for choice in map(str, _choices(part))]
    if details["type"] == "union_tag_not_found":
        return "CW1102", f"{_name(path)} is missing", f"Add it. {_suggest('', choices)}"
    tag = str(details["ctx"]["tag"])
    return "CW1105", f"{_name(path)} cannot be {shown(tag)}", _suggest(tag, choices)


def _form(details: ErrorDetails, _path: Path) -> Words:
    form = FORMS[details["ctx"]["pattern"]]
    return "CW1106", f"{shown(details['input'])} is not a valid {form.name}", form.remedy


def _length(details: ErrorDetails, path: Path) -> Words:
    context = details["ctx"]
    if details["type"].endswith("too_short"):
        return "CW1110", f"{_name(path)} is empty", "Give it at least one"
    limit = context["max_length"]
    return "CW1110", f"{_name(path)} is longer than {limit}", f"Shorten it to {limit} characters or fewer"


def _own(code: str, remedy: str) -> Callable[[ErrorDetails, Path], Words]:
    def words(details: ErrorDetails, path: Path) -> Words:
        problem = details["ctx"]["problem"]
        what = f"{_name(path)} {problem}" if code == "CW1107" else problem
        return code, what, remedy

    return words


def _other(details: ErrorDetails, path: Path) -> Words:
    what = f"{_name(path)} cannot be {_kind(details['input'])} ({details['msg']})"
    return "CW1103", what, f"Give it another value{_example(path)}"


_WORDS: Mapping[str, Callable[[ErrorDetails, Path], Words]] = {
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "int_type": _needs("a whole number"),
    "bool_type": _needs("true or false"),
    "string_type": _needs("text"),
    "list_type": _needs("a list"),
    "dict_type": _needs("a mapping"),
    "model_type": _needs("a mapping"),
    "model_attributes_type": _needs("a mapping"),
    "greater_than_equal": _range,
    "less_than_equal": _range,
    "literal_error": _one_of,
    "enum": _one_of,
    "union_tag_not_found": _tag,
    "union_tag_invalid": _tag,
    "string_pattern_mismatch": _form,
    "string_too_long": _length,
    "string_too_short": _length,
    "too_short": _length,
    "quantity": _own("CW1107", "Write the number, then the unit"),
    "node_set": _own("CW1109", "Write names and ranges such as gpu[001-004],gpu007"),
    "network": _own("CW1108", "Write the network's first address and its prefix length"),
}
