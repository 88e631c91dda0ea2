"""Groups of a cloud as whoever names their machines sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeVar

from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.handoff.document import Node
from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.member import Member
from clusterwright.spec.nodeset import expand

_Answer = TypeVar("_Answer")


class Crowds(Protocol):
    """The groups of a cloud. What it does not answer is raised as NoAnswer."""

    def members(self, group: str, /) -> Mapping[str, Member]:
        """By ID of the machine."""

    def call(self, group: str, nodes: Mapping[str, str], /) -> Mapping[str, str]:
        """Have machines made for these nodes, name → planned address, where none is made already and the
        cloud makes none by itself. What it says of those that it tried in vain, by node."""

    def end(self, group: str, machines: Iterable[str], /) -> None:
        """Others take their places only where there are too few."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Those of one cluster."""

    by_nodes: Mapping[str, str]
    """Pool, or the nodes of a part of it (`gpu-[001-018]`) → name of the group that keeps them."""
    crowds: Crowds
    patience: float = 900.0
    pause: float = 10.0

    def members(self, key: str) -> Mapping[str, Member]:
        group = self.by_nodes[key]
        return _answered(group, lambda: self.crowds.members(group))

    def call(self, key: str, nodes: Mapping[str, str]) -> Mapping[str, str]:
        group = self.by_nodes[key]
        return _answered(group, lambda: self.crowds.call(group, nodes)) if nodes else {}

    def end(self, key: str, machines: Iterable[str]) -> None:
        group = self.by_nodes[key]
        _answered(group, lambda: self.crowds.end(group, machines))


def nodes_of(key: str, handoff: Handoff) -> tuple[Node, ...]:
    """The planned nodes of a group by its key in `Groups.by_nodes`."""
    if of_pool := tuple(node for node in handoff.nodes if node.pool == key):
        return of_pool
    names = set(expand(key))
    return tuple(node for node in handoff.nodes if node.name in names)


def _answered(group: str, ask: Callable[[], _Answer]) -> _Answer:
    try:
        return ask()
    except NoAnswer as error:
        remedy = f"Let these credentials do {error.why.permission}, then run the same command again"
        raise refuse("CW8150", Where(path=group), error.why.words, remedy) from error
