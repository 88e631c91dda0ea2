"""Walks the schema along a field path: which parts may stand there, and under which keys."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.spec.schema import Schema, schema

Path = tuple[str | int, ...]

ANY = "*"
"""Stands for any key of a mapping and any position of a list."""


def follow(part: Schema) -> Schema:
    """The part behind a reference; what the field itself says (description, default) wins."""
    if "$ref" not in part:
        return part
    target: Schema = schema()["$defs"][part["$ref"].rpartition("/")[2]]
    return {**target, **{key: value for key, value in part.items() if key != "$ref"}}


def alternatives(part: Schema) -> Iterator[Schema]:
    """A part that is a choice yields each choice, without the `null` of what may be left out."""
    part = follow(part)
    choices = part.get("anyOf") or part.get("oneOf")
    if not choices:
        if part.get("type") != "null":
            yield part
        return
    for choice in choices:
        yield from alternatives(choice)


def child(part: Schema, key: str | int) -> Iterator[Schema]:
    """What may stand under a key or list position."""
    for one in alternatives(part):
        if key in one.get("properties", {}):
            yield one["properties"][key]
        elif isinstance(key, int) or key == ANY or (isinstance(key, str) and key.isdecimal()):
            yield from _members(one)
        else:
            yield from _values(one)


def _members(part: Schema) -> Iterator[Schema]:
    if "items" in part:
        yield part["items"]
    else:
        yield from _values(part)


def _values(part: Schema) -> Iterator[Schema]:
    yield from part.get("patternProperties", {}).values()
    if isinstance(part.get("additionalProperties"), dict):
        yield part["additionalProperties"]


def at(path: Path) -> list[Schema]:
    """Every part that may stand at a path; none when the path does not exist."""
    parts = [schema()]
    for key in path:
        parts = [found for part in parts for found in child(part, key)]
    return parts


def members_by_tag(parts: list[Schema]) -> dict[str, Schema]:
    """The members of a choice that a key such as `provider` decides; empty where nothing is to be chosen."""
    members: dict[str, Schema] = {}
    for part in map(follow, parts):
        for one in (part, *part.get("anyOf", [])):
            mapping = one.get("discriminator", {}).get("mapping", {})
            members |= {tag: {"$ref": target} for tag, target in mapping.items()}
    return members


def keys(part: Schema) -> list[str]:
    """The fixed keys of a part, in the order of the description."""
    return list(dict.fromkeys(key for one in alternatives(part) for key in one.get("properties", {})))


def names(part: Schema) -> list[str]:
    """The keys that a part may have, where they are not free: fixed ones, and those of a mapping of a few."""
    listed = [key for one in alternatives(part) for key in one.get("propertyNames", {}).get("enum", [])]
    return list(dict.fromkeys([*keys(part), *listed]))
