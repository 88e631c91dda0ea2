"""The signed pointer: which bundle a cluster's nodes are to take up, in which order, and whom they trust."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from clusterwright.bundle.turns import AT_ONCE, InTurn

SCHEMA = 1
NAMESPACE = "clusterwright-pointer"
REPORT_NAMESPACE = "clusterwright-report"
NAME_NAMESPACE = "clusterwright-name"
"""Namespaces of signatures: what is signed as the one is never taken for the other."""


@dataclass(frozen=True, slots=True)
class Reference:
    """An object of the store by its content."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Awaited:
    """A node that others wait for: what it is to become, and the host key that its report is signed with."""

    node: str
    key: str
    digest: str


@dataclass(frozen=True)
class Pointer:
    """What `current.json` says, under a signature."""

    cluster: str
    serial: int
    tree: Reference
    first: tuple[Awaited, ...]
    """Nodes whose services all others need, in order: each waits for those before it."""
    canaries: Mapping[str, Awaited]
    """By pool: the one node that becomes it before the others of its pool do."""
    revoked: tuple[str, ...] = ()
    """Public keys that no pointer may be signed with any more."""
    next: str | None = None
    """The public key that will sign later pointers beside the present one."""
    asked: int = 0
    """So often the operator asked for the gates of the cluster to be run again."""
    roll: InTurn = AT_ONCE
    """How each pool follows its canary into this; what a node waits for stands in its own object."""

    def dumps(self) -> str:
        return json.dumps({"schema": SCHEMA, **asdict(self)}, sort_keys=True)

    def same_but_serial(self, other: Pointer) -> bool:
        return replace(self, serial=0) == replace(other, serial=0)


def loads(text: str) -> Pointer:
    """For what this program wrote itself. Raises ValueError for anything else."""
    try:
        body: dict[str, Any] = json.loads(text)
        if body.pop("schema") != SCHEMA:
            raise ValueError("another schema")
        return Pointer(
            cluster=body["cluster"],
            serial=body["serial"],
            tree=Reference(**body["tree"]),
            first=tuple(Awaited(**row) for row in body["first"]),
            canaries={pool: Awaited(**row) for pool, row in body["canaries"].items()},
            revoked=tuple(body["revoked"]),
            next=body["next"],
            asked=body.get("asked", 0),
            roll=InTurn(body["roll"]["width"], tuple(body["roll"]["last"])) if "roll" in body else AT_ONCE,
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a pointer: {error!r}") from error
