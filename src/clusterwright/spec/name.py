"""Names that end up as host names, Slurm names and cloud resource names."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

CLUSTER = r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$"
LABEL = r"^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$"
ACCOUNT = r"^[a-z_][a-z0-9_-]{0,30}$"


def _node_set(text: str) -> str:
    from clusterwright.spec.nodeset import size

    try:
        size(text)
    except ValueError as error:
        remedy = "Write names and ranges such as gpu[001-004],gpu007"
        context = {"problem": f"is no set of nodes: {error}", "remedy": remedy}
        raise PydanticCustomError("node_set", "{problem}", context) from error
    return text


ClusterName = Annotated[str, StringConstraints(pattern=CLUSTER)]
"""At most 40 characters: Slurm's accounting database uses it in table names."""
Label = Annotated[str, StringConstraints(pattern=LABEL)]
"""A DNS label that leaves room for a number: a pool, a site, a partition."""
AccountName = Annotated[str, StringConstraints(pattern=ACCOUNT)]
"""A Unix user name or a Slurm account name."""
NodeSet = Annotated[
    str,
    StringConstraints(min_length=1, max_length=4000),
    AfterValidator(_node_set),
    Field(examples=["gpu[001-004]"], json_schema_extra={"x-kind": "set of node names"}),
]
"""Node names in the admin's own syntax: `gpu[001-004],gpu007`."""
