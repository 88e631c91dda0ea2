"""What a stack's state holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of a cloud, or of our own plugin."""

    urn: str
    type: str
    name: str
    id: str
    created: str
    """When it was made, RFC 3339; empty where the state does not tell."""
    protected: bool
    retained: bool
    """Whether it stays with the cloud when it leaves the stack."""
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pending:
    """What an operation that was killed had begun."""

    op: str
    type: str
    name: str


@dataclass(frozen=True, slots=True)
class Kept:
    """`outputs` of the stack itself."""

    resources: tuple[Resource, ...]
    pending: tuple[Pending, ...]
    outputs: Mapping[str, Any]

    def of_type(self, kind: str) -> tuple[Resource, ...]:
        return tuple(resource for resource in self.resources if resource.type == kind)


def kept(deployment: Mapping[str, Any]) -> Kept:
    """From what `pulumi stack export` gives."""
    rows = deployment.get("resources") or ()
    stack: Mapping[str, Any] = next((row for row in rows if row["type"] == "pulumi:pulumi:Stack"), {})
    made = (row for row in rows if row.get("custom") and not row["type"].startswith("pulumi:"))
    pending = (
        Pending(row["type"], row["resource"]["type"], _name(row["resource"]["urn"]))
        for row in deployment.get("pending_operations") or ()
    )
    return Kept(tuple(map(_resource, made)), tuple(pending), stack.get("outputs") or {})


def _resource(row: Mapping[str, Any]) -> Resource:
    return Resource(
        row["urn"],
        row["type"],
        _name(row["urn"]),
        str(row.get("id", "")),
        str(row.get("created", "")),
        bool(row.get("protect")),
        bool(row.get("retainOnDelete")),
        row.get("inputs") or {},
        row.get("outputs") or {},
    )


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]
