"""Turns the validator's errors into findings that a person understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Mistake:
    """One error of the validator, with what the schema says of its place."""

    details: ErrorDetails
    path: Path
    of_key: bool
    owners: list[Schema]
    """What the thing is in."""
    parts: list[Schema]
    """What may stand there."""

    @property
    def name(self) -> str:
        names = [step for step in self.path if isinstance(step, str)]
        return f"'{names[-1]}'" if names else "the description"

    @property
    def value(self) -> object:
        return self.details["input"]

    @property
    def choices(self) -> list[Schema]:
        return [one for part in self.parts for one in shape.alternatives(part)]


def findings_of(error: ValidationError, document: Document) -> list[Finding]:
    """One finding per place, leaving out places that the reader of the text has refused already."""
    refused = {finding.where.path for finding in document.findings}
    found: dict[str, Finding] = {}
    for details in islice(error.errors(include_url=False), MAX_ERRORS):
        mistake = _mistake(details, document.value)
        at_key = mistake.of_key or details["type"] == "extra_forbidden"
        where = document.where(mistake.path, key=at_key)
        if where.path not in refused:
            code, what, remedy = _WORDS.get(details["type"], _other)(mistake)
            finding = Finding(code, where, what, remedy, secretive=_may_hold_a_secret(details))
            found.setdefault(where.path, finding)
    return list(found.values())


def _mistake(details: ErrorDetails, value: object) -> _Mistake:
    """Follows the validator's path, which has the names of union members in it, through the schema."""
    owners: list[Schema] = []
    parts = [schema()]
    path: Path = ()
    for step in details["loc"]:
        if step == "[key]":
            return _Mistake(details, path, True, owners, parts)
        members = shape.members_by_tag(parts)
        if members:
            parts = [members[str(step)]]
            continue
        below = [found for part in parts for found in shape.child(part, step)]
        if not below and not any(shape.keys(part) for part in parts):
            break
        owners, parts, path = parts, below, (*path, step)
    if details["type"] in ("union_tag_invalid", "union_tag_not_found"):
        tag = details["ctx"]["discriminator"].strip("'")
        owners, parts = parts, [found for part in parts for found in shape.child(part, tag)]
        path = (*path, tag)
    if path and isinstance(path[-1], int) and isinstance(_found(value, path[:-1]), str):
        path = path[:-1]
    return _Mistake(details, path, False, owners, parts)


def _found(value: object, path: Path) -> object:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            value = value[step]
    return value


def _unknown_key(mistake: _Mistake) -> Words:
    known = list(dict.fromkeys(key for part in mistake.owners for key in shape.names(part)))
    key = str(mistake.path[-1])
    close = get_close_matches(key, known, n=1, cutoff=0.6)
    remedy = f"Did you mean '{close[0]}'?" if close else f"Known here: {', '.join(known)}"
    return "CW1101", f"unknown key {shown(key)}", remedy


def _missing(mistake: _Mistake) -> Words:
    described = next((shape.follow(part).get("description", "") for part in mistake.parts), "")
    about = " ".join(described.split())
    return "CW1102", f"{mistake.name} is missing", f"Add it. {about}".strip()


def _needs(kind: str) -> Callable[[_Mistake], Words]:
    def words(mistake: _Mistake) -> Words:
        value = mistake.value
        both = any(isinstance(one.get("type"), list) for one in mistake.choices)
        needed = "text or a number" if both else kind
        what = f"{mistake.name} needs {needed}, not {_kind(value)}"
        if value is None:
            return "CW1103", f"{mistake.name} is empty", f"Give it {needed}, or remove it"
        if _is_only_quoted(value, needed):
            return "CW1103", what, "Remove the quotes"
        if needed.startswith("text") and isinstance(value, int):
            return "CW1103", what, "Put it in quotes"
        return "CW1103", what, f"Give it {needed}{_example(mistake)}"

    return words


def _is_only_quoted(value: object, needed: str) -> bool:
    if needed == "true or false":
        return value in ("true", "false")
    return needed == "a whole number" and isinstance(value, str) and value.lstrip("-").isdecimal()


def _kind(value: object) -> str:
    """What a value is. Text is not shown: it may be a key or a password in a wrong place."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "text" if isinstance(value, str) else shown(value)


def _example(mistake: _Mistake) -> str:
    examples = [example for one in mistake.choices for example in one.get("examples", [])]
    return f", for instance `{examples[0]}`" if examples else ""


def _range(mistake: _Mistake) -> Words:
    least = next((one["minimum"] for one in mistake.choices if "minimum" in one), None)
    most = next((one["maximum"] for one in mistake.choices if "maximum" in one), None)
    remedy = f"Give {least} or more" if most is None else f"Give {least} to {most}"
    return "CW1104", f"{mistake.name} is out of range: {shown(mistake.value)}", remedy


def _one_of(mistake: _Mistake) -> Words:
    if mistake.of_key:
        return _unknown_key(mistake)
    value = mistake.value
    said = shown(value) if isinstance(value, str) else _kind(value)
    return "CW1105", f"{mistake.name} cannot be {said}", _suggest(str(value), mistake.parts)


def _tag_missing(mistake: _Mistake) -> Words:
    return "CW1102", f"{mistake.name} is missing", f"Add it. {_suggest('', mistake.parts)}"


def _tag_unknown(mistake: _Mistake) -> Words:
    tag = str(mistake.details["ctx"]["tag"])
    return "CW1105", f"{mistake.name} cannot be {shown(tag)}", _suggest(tag, mistake.parts)


def _suggest(value: str, parts: list[Schema]) -> str:
    known = list(dict.fromkeys(word for part in parts for word in _words_of(part)))
    has_letters = any(letter.isalpha() for letter in value)
    close = get_close_matches(value.lower(), known, n=1, cutoff=0.6) if has_letters else []
    return " ".join([*(f"Did you mean '{word}'?" for word in close), f"One of: {', '.join(known)}"])


def _words_of(part: Schema) -> list[str]:
    words: list[str] = []
    for one in shape.alternatives(part):
        words += [word for word in one.get("enum", [one.get("const")]) if isinstance(word, str)]
        words += _words_of(one["items"]) if "items" in one else []
    return words


def _may_hold_a_secret(details: ErrorDetails) -> bool:
    form = FORMS.get(details.get("ctx", {}).get("pattern", ""))
    return form is not None and form.may_hold_a_secret


def _form(mistake: _Mistake) -> Words:
    form = FORMS[mistake.details["ctx"]["pattern"]]
    said = "this" if form.may_hold_a_secret else shown(mistake.value)
    return "CW1106", f"{said} is not a valid {form.name}", form.remedy


def _length(mistake: _Mistake) -> Words:
    if mistake.details["type"].endswith("too_short"):
        return "CW1110", f"{mistake.name} is empty", f"Give it at least one{_example(mistake)}"
    limit = mistake.details["ctx"]["max_length"]
    what = f"{mistake.name} is longer than {limit} characters"
    return "CW1110", what, "Shorten it"


def _own(code: str) -> Callable[[_Mistake], Words]:
    def words(mistake: _Mistake) -> Words:
        context = mistake.details["ctx"]
        return code, f"{mistake.name} {context['problem']}", context["remedy"]

    return words


def _other(mistake: _Mistake) -> Words:
    what = f"{mistake.name} cannot be {_kind(mistake.value)} ({mistake.details['msg']})"
    return "CW1103", what, f"Give it another value{_example(mistake)}"


_WORDS: Mapping[str, Callable[[_Mistake], Words]] = {
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
    "union_tag_not_found": _tag_missing,
    "union_tag_invalid": _tag_unknown,
    "string_pattern_mismatch": _form,
    "string_too_long": _length,
    "string_too_short": _length,
    "too_short": _length,
    "quantity": _own("CW1107"),
    "node_set": _own("CW1109"),
    "network": _own("CW1108"),
    "ports": _own("CW1106"),
}
