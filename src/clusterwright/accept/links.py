"""Cards of the fabric one by one, each with a peer: which card on which rail is slow, and of which node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clusterwright.accept import jobs
from clusterwright.accept.home import Token
from clusterwright.accept.nccl import Squad
from clusterwright.accept.result import GateResult
from clusterwright.accept.session import Ran, Session, program
from clusterwright.catalog.links import link_threshold
from clusterwright.spec.nodeset import fold

GATE = "fabric-pairs"
SECONDS = 240.0
USUAL_SHARE = 0.7
"""Where no source has a bound: of what most cards beside it reach in the same way."""
_REMEDY = "Look at this card: cable, transceiver, PCI link (`lspci -vv`) and switch port of its rail"


@dataclass(frozen=True, slots=True)
class Link:
    """What one card reached with the same card of its peer, or with itself."""

    node: str
    card: str
    rail: int
    peer: str
    gbps: float | None
    """None where the program failed; `said` is its last word."""
    said: str

    @property
    def alone(self) -> bool:
        return self.node == self.peer


@dataclass(frozen=True, slots=True)
class Floor:
    """Gb/s that a card reaches with itself and with a peer; below it, it is slow."""

    alone: float
    paired: float

    def slow(self, link: Link) -> bool:
        return link.gbps is None or link.gbps < (self.alone if link.alone else self.paired)


def measure(session: Session, squad: Squad, token: Token) -> tuple[Ran, bool, tuple[Link, ...]]:
    """All nodes at once, each with its two neighbours; whether the nodes have the program."""
    count = len(squad.nodes)
    shape = [f"--nodelist={fold(squad.names)}", f"--nodes={count}", f"--ntasks={count}"]
    shape += ["--ntasks-per-node=1", "--cpus-per-task=2", "--mem=1G", "--cpu-bind=none"]
    command = ["/usr/bin/python3", "-c", program("link_bandwidth"), ",".join(squad.names)]
    ran = jobs.start(session, squad.partition, token, shape, command, {}, SECONDS)
    rows = jobs.json_lines(ran.output)
    links = tuple(
        Link(row["node"], row["card"], row["rail"], row["peer"], row["gbps"], row["said"])
        for row in rows
        if "card" in row
    )
    return ran, any(row.get("program") for row in rows), links


def gates(
    squad: Squad, ran: Ran, installed: bool, links: Sequence[Link], *, note: str = ""
) -> list[GateResult]:
    """A result for each node with cards that are slow, or for the pairs of which none can be blamed."""
    where, spent = fold(squad.names), round(ran.seconds, 3)
    expected, floor = floor_of(squad, links)
    if not installed:
        missing = "other jobs took the nodes" if ran.taken else "no program that measures them is installed"
        return [GateResult(GATE, where, "skip", expected, missing)]
    if floor is None:
        seen = "no threshold is known for these cards"
        return [GateResult(GATE, where, "skip", expected, seen)]
    blamed = blame(links, floor)
    if not blamed:
        figures = [link.gbps for link in links if link.gbps is not None]
        if not figures:
            return [GateResult(GATE, where, "fail", expected, ran.complaint, _REMEDY, spent)]
        seen = f"{len({link.card for link in links})} cards of {len(squad.names)} nodes: "
        seen += f"{min(figures):.0f} to {max(figures):.0f} Gb/s{note}"
        return [GateResult(GATE, where, "pass", expected, seen, "", spent)]
    return [
        GateResult(GATE, name, "fail", expected, _told(found) + note, _REMEDY, spent)
        for name, found in sorted(blamed.items())
    ]


def floor_of(squad: Squad, links: Sequence[Link]) -> tuple[str, Floor | None]:
    """What is expected, in words and as figures: a source's bound, or of EFA what the other cards reach."""
    bound = link_threshold(squad.hardware)
    if bound is not None:
        return f"each card carries its rate: {bound.fail} Gb/s or more", Floor(bound.fail, bound.fail)
    if not any(nic.kind == "efa" for nic in squad.hardware.nics):
        return "each card carries its rate", None
    floor = Floor(
        usual([link for link in links if link.alone]), usual([link for link in links if not link.alone])
    )
    words = f"each card carries what most do: {floor.alone:.0f} Gb/s or more with itself"
    return words + (f", {floor.paired:.0f} between nodes" if floor.paired else ""), floor


def usual(links: Sequence[Link]) -> float:
    """A share of the upper quartile, which no slow node can pull down unless most are slow."""
    figures = sorted(link.gbps for link in links if link.gbps is not None)
    return figures[math.ceil(0.75 * (len(figures) - 1))] * USUAL_SHARE if figures else 0.0


def blame(links: Sequence[Link], floor: Floor) -> Mapping[str, list[Link]]:
    """Slow links by the node to blame, or by both nodes where it cannot be told which.

    A card that is slow with itself is to blame. Of the others it is the one that is slow with each neighbour,
    while its neighbour is not slow with another.
    """
    slow = [link for link in links if floor.slow(link)]
    well = {(end, link.card) for link in links if link not in slow for end in (link.node, link.peer)
            if not link.alone}  # fmt: skip
    alone = {(link.node, link.card) for link in slow if link.alone}
    found: dict[str, list[Link]] = {}
    for link in slow:
        ends = [(link.node, link.card), (link.peer, link.card)]
        guilty = {end for end in ends if end in alone} or {end for end in ends if end not in well}
        names = [name for name, _ in guilty] if guilty else [link.node, link.peer]
        if link.alone or len(names) == 1:
            found.setdefault(names[0], []).append(link)
        else:
            found.setdefault(fold(sorted(names)), []).append(link)
    return found


def _told(links: Sequence[Link]) -> str:
    """Cards by what they reached: `mlx5_3 (rail 3): 98 Gb/s with itself, 98 Gb/s with gpu-002`."""
    cards: dict[tuple[int, str], list[str]] = {}
    for link in sorted(links, key=lambda link: (link.rail, not link.alone, link.node, link.peer)):
        peer = "itself" if link.alone else f"{link.node} and {link.peer}"
        figure = f"{link.gbps:.0f} Gb/s" if link.gbps is not None else link.said
        cards.setdefault((link.rail, link.card), []).append(
            f"{figure} with {peer}" if link.alone else f"{figure} between {peer}"
        )
    alike: dict[tuple[str, ...], list[tuple[int, str]]] = {}
    for card, said in cards.items():
        alike.setdefault(tuple(said), []).append(card)
    return "; ".join(f"{_named(found)}: {', '.join(said)}" for said, found in alike.items())


def _named(cards: Sequence[tuple[int, str]]) -> str:
    """`mlx5_3 (rail 3)`, or `mlx5_[0-7] (8 rails)` for cards that did the same."""
    rail, card = cards[0]
    if len(cards) == 1:
        return f"{card} (rail {rail})"
    return f"{fold(name for _, name in cards)} ({len(cards)} rails)"
