"""What may stand in a field, in a few words: for the reference and for `explain`."""

from __future__ import annotations

from collections.abc import Callable

from clusterwright.spec.forms import FORMS
from clusterwright.spec.schema import Schema
from clusterwright.spec.shape import alternatives, follow

Link = Callable[[str], str]
"""How a noun such as `Pool` is written."""


def kind(part: Schema, link: Link) -> str:
    """`whole number, 1 to 128`; `size with its unit, such as …`; `list of …`."""
    words = list(dict.fromkeys(_kind(one, link) for one in _choices(part)))
    lists = [word for word in words if word.startswith("list of ")]
    if len(words) == 2 and lists and lists[0].removeprefix("list of ") == words[0]:
        return f"{words[0]}, or a list of them"
    return " or ".join(words)


def default(part: Schema, required: bool) -> str:
    """The default as it would be written, or what stands in for one."""
    if required:
        return "required"
    value = part.get("default")
    if value is None or value == [] or value == "":
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "see there" if isinstance(value, dict) and value else str(value) if value != {} else "none"


def _choices(part: Schema) -> list[Schema]:
    """The choices of a part; a noun stays the reference that it is."""
    if "$ref" in part and follow(part).get("type") == "object":
        return [part]
    part = follow(part)
    choices = part.get("anyOf") or part.get("oneOf")
    if choices:
        return [found for choice in choices for found in _choices(choice)]
    return [part] if part.get("type") != "null" else []


def _kind(part: Schema, link: Link) -> str:
    if "$ref" in part:
        return link(part["$ref"].rpartition("/")[2])
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return _either([f"`{value}`" for value in part["enum"] if value is not None])
    match part.get("type"):
        case "integer":
            return f"whole number{_bounds(part)}"
        case "boolean":
            return "`true` or `false`"
        case "array":
            return f"list of {kind(part['items'], link)}"
        case "object":
            values = [*part.get("patternProperties", {}).values(), part.get("additionalProperties")]
            return f"mapping of names to {kind(next(filter(None, values)), link)}"
        case "string":
            return _text(part)
    return "text or number"


def _bounds(part: Schema) -> str:
    least, most = part.get("minimum"), part.get("maximum")
    if least is None:
        return ""
    return f", {least} or more" if most is None else f", {least} to {most}"


def _text(part: Schema) -> str:
    if part.get("pattern") in FORMS:
        return FORMS[part["pattern"]].name
    return str(part.get("x-kind", "text"))


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def nouns(part: Schema) -> list[str]:
    """Names of the models that may stand in a part or in what it holds."""
    found: list[str] = []
    for choice in _choices(part):
        if "$ref" in choice:
            found.append(choice["$ref"].rpartition("/")[2])
            continue
        inner = [choice.get("items"), choice.get("additionalProperties")]
        for one in [*inner, *choice.get("patternProperties", {}).values()]:
            found += nouns(one) if isinstance(one, dict) else []
    return list(dict.fromkeys(found))


def is_required(owners: list[Schema], key: str | int) -> bool:
    """Whether every noun that has the key asks for it."""
    having = [one for owner in owners for one in alternatives(owner) if key in one.get("properties", {})]
    return bool(having) and all(key in one.get("required", []) for one in having)
