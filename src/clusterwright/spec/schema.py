"""The JSON Schema of a description: editors complete and check with it, and help is written from it."""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from clusterwright.spec.base import Described
from clusterwright.spec.cluster import ClusterSpec

Schema = dict[str, Any]

FILE = Path("schemas/cluster.schema.json")


@cache
def schema() -> Schema:
    """The whole schema, with the docstrings of fields as descriptions."""
    body = ClusterSpec.model_json_schema(by_alias=False)
    documented = {"ClusterSpec": body, **body["$defs"]}
    for model in _models(Described):
        if model.__name__ in documented:
            _describe(documented[model.__name__], model)
    for part in _every_part(body):
        if "properties" in part:
            for one in part["properties"].values():
                one.pop("title", None)
        if "patternProperties" in part:
            part["additionalProperties"] = False
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "clusterwright cluster description",
        **{key: value for key, value in body.items() if key != "title"},
    }


def text() -> str:
    """The schema as the committed file holds it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False, sort_keys=False) + "\n"


def _models(base: type[Described]) -> Iterator[type[Described]]:
    for model in base.__subclasses__():
        yield model
        yield from _models(model)


def _describe(part: Schema, model: type[Described]) -> None:
    docstrings: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if issubclass(owner, Described) and owner is not Described:
            docstrings |= _docstrings(owner)
    for name, field in part["properties"].items():
        field["description"] = docstrings[name]


def _docstrings(model: type[Described]) -> dict[str, str]:
    """The text below each field of a class, which Python itself does not keep."""
    body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            match below:
                case ast.Expr(value=ast.Constant(value=str() as words)):
                    found[field.target.id] = inspect.cleandoc(words)
    return found


def _every_part(part: object) -> Iterator[Schema]:
    if isinstance(part, dict):
        yield part
        for value in part.values():
            yield from _every_part(value)
    elif isinstance(part, list):
        for value in part:
            yield from _every_part(value)


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else FILE).write_text(text(), encoding="utf-8")
