"""The signed pointer: which bundle a cluster's nodes are to take up, in which order, and whom they trust."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

SCHEMA = 1
NAMESPACE = "clusterwright-pointer"
REPORT_NAMESPACE = "clusterwright-report"
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
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a pointer: {error!r}") from error


def order(
    roles: Mapping[str, tuple[str, ...]], pools: Mapping[str, str], there: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """Who comes first, and each pool's canary, of the nodes that are there (by name: their host key).

    File servers, then controllers: daemons of every other node ask these when they start.
    """
    first = [
        node
        for role in ("storage", "controller")
        for node in sorted(there)
        if role in roles[node] and not (role == "controller" and "storage" in roles[node])
    ]
    canaries: dict[str, str] = {}
    for node in sorted(there):
        canaries.setdefault(pools[node], node)
    return first, canaries
