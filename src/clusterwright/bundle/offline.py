"""What the nodes of a cluster will ask a package server for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clusterwright.bundle.facts import facts, first_controller, roles_of
from clusterwright.bundle.packages import packages_of
from clusterwright.bundle.shares import file_server
from clusterwright.handoff import Handoff, Node

_DEB = {"x86_64": "amd64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True, order=True)
class Transaction:
    """Packages that one machine installs together: `name`, or `name=version`."""

    architecture: str
    """In Debian's words."""
    packages: tuple[str, ...]


def transactions(handoff: Handoff, architecture: str | None = None) -> tuple[Transaction, ...]:
    """Each kind of node by itself, and what an image of several of them has.

    `architecture`: of all of them, whatever their machine types say, as in a lab.
    """
    kinds = sorted({_kind(handoff, node, architecture) for node in _representatives(handoff)})
    images: dict[str, list[set[str]]] = {}
    for kind in kinds:
        groups = images.setdefault(kind.architecture, [])
        group = next((group for group in groups if _agree(group | set(kind.packages))), None)
        if group is None:
            groups.append(set(kind.packages))
        else:
            group |= set(kind.packages)
    together = {
        Transaction(architecture, tuple(sorted(group)))
        for architecture, groups in images.items()
        for group in groups
    }
    return tuple(sorted({*kinds, *together}))


def _kind(handoff: Handoff, node: Node, architecture: str | None) -> Transaction:
    known = facts(handoff, node)
    applied, _kept = roles_of(handoff, node, known)
    own = _DEB[handoff.hardware[node.machine].architecture]
    return Transaction(architecture or own, packages_of(handoff, node, known, applied))


def _representatives(handoff: Handoff) -> Iterator[Node]:
    seen, server, first = set(), file_server(handoff), first_controller(handoff)
    for node in handoff.nodes:
        key = node.roles, node.pool, node.name == server, node.name == first
        if key not in seen:
            seen.add(key)
            yield node


def _agree(packages: set[str]) -> bool:
    locked = [package.partition("=")[0] for package in packages if "=" in package]
    return len(set(locked)) == len(locked)
