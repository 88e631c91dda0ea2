"""The base of every model in a description, and the forms that its fields share."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema


class Described(BaseModel):
    """Unknown keys are refused, values never change after loading.

    The docstrings of classes and fields become the schema's descriptions (see schema.py), which reads them
    from the source only when a schema is made: every other command starts without that work.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class OneOrMany:
    """Marks a list that may be written as its only member: `roles: login`."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_as_list, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        many = handler(schema)
        return {"anyOf": [many["items"], many]}


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value
