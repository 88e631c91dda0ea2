"""Which switch one is that tells no name or another's: the one whose cables it has."""

from __future__ import annotations

from collections import Counter

from clusterwright.accept.wired.discovered import Discovered, Port
from clusterwright.plan.wiring import Wiring


def identify(wiring: Wiring, found: Discovered) -> dict[str, str]:
    """True names by what a switch is called, where more than half of its cables tell one and the same.

    Nobody is taken for a switch that has its own cables and its own name.
    """
    other_end = {Port.of(cable.lower): cable.upper.device for cable in wiring.cables}
    other_end |= {Port.of(cable.upper): cable.lower.device for cable in wiring.cables}
    votes: dict[str, Counter[str]] = {called: Counter() for called in (*found.unnamed, *found.switches)}
    for port, link in found.links.items():
        if port.device in votes and (wanted := other_end.get(link.to)):
            votes[port.device][wanted] += 1
    told = {called: _winner(counted) or called for called, counted in votes.items()}
    taken = Counter(told.values())
    return {
        called: name
        for called, name in told.items()
        if name != called and taken[name] == 1 and name in wiring.by_name
    }


def _winner(counted: Counter[str]) -> str | None:
    name, most = next(iter(counted.most_common(1)), (None, 0))
    return name if 2 * most > counted.total() else None
