"""An IPv4 network, as a description writes one."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError


def _network(text: str) -> str:
    from ipaddress import IPv4Network

    try:
        return str(IPv4Network(text))
    except ValueError as error:
        remedy = "Write the first address and the prefix length, for instance `10.40.0.0/16`"
        problem = "has host bits set" if "host bits" in str(error) else "is no IPv4 network"
        context = {"problem": problem, "remedy": remedy}
        raise PydanticCustomError("network", "{problem}", context) from error


Network = Annotated[
    str,
    Field(max_length=18, examples=["10.40.0.0/16"], json_schema_extra={"x-kind": "IPv4 network"}),
    AfterValidator(_network),
]
"""An IPv4 network in CIDR form, without host bits."""
