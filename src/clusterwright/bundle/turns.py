"""In which order nodes take up a bundle: who waits for whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InTurn:
    """How nodes of a pool follow each other into what disturbs their jobs."""

    width: int = 0
    """So many of a pool may be under way; 0: all of them."""
    last: tuple[str, ...] = ()
    """Nodes that come at the end of their pool, such as those that do not answer."""


AT_ONCE = InTurn()


@dataclass(frozen=True, slots=True)
class Turn:
    """What a node waits for before it gives up its jobs. As long for the last of a pool as for the first."""

    accepted: tuple[str, ...] = ()
    begun: tuple[str, ...] = ()


@dataclass(frozen=True)
class Order:
    """Of the nodes that are there."""

    first: tuple[str, ...]
    """Each waits for those before it, and everybody else for all of them."""
    canaries: Mapping[str, str]
    """By pool: the node that the others of its pool wait for."""
    turns: Mapping[str, Turn]
    """In a roll: of nodes after the canary."""

    def awaited(self, node: str, pool: str) -> Iterator[str]:
        """Whose failure holds a node back."""
        if node in self.first:
            yield from self.first[: self.first.index(node)]
            return
        yield from self.first
        if self.canaries[pool] != node:
            yield self.canaries[pool]
        turn = self.turns.get(node, Turn())
        yield from (*turn.accepted, *turn.begun)


def order(roles: Mapping[str, tuple[str, ...]], pools: Mapping[str, str], roll: InTurn = AT_ONCE) -> Order:
    """By the roles and the pool of each node.

    File servers, then controllers: daemons of every other node ask these when they start.
    """
    first = tuple(
        node
        for role in ("storage", "controller")
        for node in sorted(roles)
        if role in roles[node] and not (role == "controller" and "storage" in roles[node])
    )
    lines: dict[str, list[str]] = {}
    for node in sorted(pools, key=lambda name: (name in roll.last, name)):
        lines.setdefault(pools[node], []).append(node)
    canaries = {pool: line[0] for pool, line in lines.items()}
    turns: dict[str, Turn] = {}
    for line in lines.values() if roll.width else ():
        turns |= _turns([node for node in line[1:] if node not in first], roll.width)
    return Order(first, canaries, turns)


def _turns(line: list[str], width: int) -> Mapping[str, Turn]:
    """Who is `width` places before is through, and who is just before has begun.

    So no more than `width` are under way. Behind one that failed a whole width later nobody begins, and
    behind that one nobody either.
    """
    return {
        node: Turn(
            accepted=(line[place - width],) if place >= width else (),
            begun=(line[place - 1],) if place and width > 1 else (),
        )
        for place, node in enumerate(line)
    }
