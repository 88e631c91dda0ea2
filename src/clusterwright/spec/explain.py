"""What one field of a description means, by its path: `pools.gpu.count`, `pools.*.racks.nodes_per_rack`."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

import yaml

from clusterwright.finding import Refused, Where, refuse
from clusterwright.spec import kind, shape
from clusterwright.spec.init import template, templates
from clusterwright.spec.schema import Schema


@dataclass(frozen=True, slots=True)
class FieldHelp:
    """Everything that is to say about one field."""

    path: str
    type: str
    default: str
    meaning: str
    example: str
    """A piece of YAML, or empty."""


def field(path: str) -> FieldHelp:
    """Help on the field at a path; a name or `*` stands for any member. Raises Refused for an unknown one."""
    steps: shape.Path = tuple(path.strip().split("."))
    parts = shape.at(steps)
    if not parts:
        raise _unknown(path, steps)
    first = parts[0]
    meaning = first.get("description") or shape.follow(first).get("description", "")
    inside = list(dict.fromkeys(key for part in parts for key in shape.names(part)))
    if inside:
        meaning = f"{meaning}\nInside: {', '.join(inside)}".strip()
    owners = shape.at(steps[:-1])
    is_member = not any(steps[-1] in shape.keys(owner) for owner in owners)
    return FieldHelp(
        path=".".join(map(str, steps)),
        type=" or ".join(dict.fromkeys(kind.kind(part, str) for part in parts)),
        default="none" if is_member else kind.default(first, kind.is_required(owners, steps[-1])),
        meaning=meaning,
        example=_example(steps, first),
    )


def _unknown(path: str, steps: shape.Path) -> Refused:
    reached = next(end for end in range(len(steps) - 1, -1, -1) if shape.at(steps[:end]))
    known = list(dict.fromkeys(key for part in shape.at(steps[:reached]) for key in shape.keys(part)))
    if not known:
        remedy = f"'{'.'.join(map(str, steps[:reached]))}' is the last that has a meaning"
    else:
        close = get_close_matches(str(steps[reached]), known, n=1)
        remedy = f"Did you mean '{close[0]}'?" if close else f"Known here: {', '.join(known)}"
    return refuse("CW1101", Where(path=path), f"a description has no field '{path}'", remedy)


def _example(steps: shape.Path, part: Schema) -> str:
    for name in templates():
        found = _in_template(_written(name), steps)
        if found is not None:
            return _yaml(found)
    value = _sample(part)
    if value in (None, {}, []):
        return ""
    for end in range(len(steps) - 1, -1, -1):
        name = "name" if steps[end] == shape.ANY else str(steps[end])
        value = [value] if _is_list(steps[:end]) and _is_position(steps[end]) else {name: value}
    return _yaml(value)


@cache
def _written(name: str) -> object:
    """A template as data."""
    return yaml.safe_load(template(name))


def _is_list(steps: shape.Path) -> bool:
    return any("items" in one for part in shape.at(steps) for one in shape.alternatives(part))


def _is_position(step: str | int) -> bool:
    return step == shape.ANY or str(step).isdecimal()


def _in_template(value: object, steps: shape.Path) -> object:
    """The piece of a template that leads to a field."""
    if not steps:
        return value
    if isinstance(value, list) and steps[0] in (shape.ANY, "0") and value:
        below = _in_template(value[0], steps[1:])
        return None if below is None else [below]
    if not isinstance(value, dict):
        return None
    fixed = steps[0] in value
    for key in [steps[0]] if fixed else list(value) if steps[0] == shape.ANY else []:
        below = _in_template(value[key], steps[1:])
        if below is not None:
            return {key: below}
    return None


def _sample(part: Schema) -> object:
    for one in shape.alternatives(part):
        for value in (*one.get("examples", []), *one.get("enum", []), one.get("minimum")):
            if value is not None:
                return value
        if one.get("type") == "boolean":
            return not part.get("default", False)
    return part.get("default")


def _yaml(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, default_flow_style=False, allow_unicode=True).rstrip("\n")
