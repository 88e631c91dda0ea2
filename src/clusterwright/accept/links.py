"""Cards of the fabric one by one, with ib_write_bw: which card on which rail is slow, and of which node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clusterwright.accept import jobs
from clusterwright.accept.home import Token
from clusterwright.accept.nccl import Squad
from clusterwright.accept.result import GateResult
from clusterwright.accept.session import Ran, Session, program
from clusterwright.catalog.links import LinkThreshold, link_threshold
from clusterwright.spec.nodeset import fold

GATE = "fabric-pairs"
SECONDS = 240.0
_REMEDY = "Look at this card: cable, transceiver, PCI link (`lspci -vv`) and switch port of its rail"


@dataclass(frozen=True, slots=True)
class Link:
    """What one card reached with the same card of its peer, or with itself."""

    node: str
    card: str
    rail: int
    peer: str
    gbps: float | None
    """None where ib_write_bw failed; `said` is its last word."""
    said: str


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
    bound = link_threshold(squad.hardware)
    where, spent = fold(squad.names), round(ran.seconds, 3)
    expected = "each card carries its rate" + (f": {bound.fail} Gb/s or more" if bound else "")
    if bound is None:
        seen = "no threshold is known for these cards, or ib_write_bw does not speak to them"
        return [GateResult(GATE, where, "skip", expected, seen)]
    if not installed:
        missing = "other jobs took the nodes" if ran.taken else "ib_write_bw is not installed"
        return [GateResult(GATE, where, "skip", expected, missing)]
    blamed = blame(links, bound)
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


def blame(links: Sequence[Link], bound: LinkThreshold) -> Mapping[str, list[Link]]:
    """Slow links by the node to blame, or by both nodes where it cannot be told which.

    A card that is slow with itself is to blame. Of the others it is the one that is slow with each neighbour,
    while its neighbour is not slow with another.
    """
    slow = [link for link in links if link.gbps is None or link.gbps < bound.fail]
    well = {(end, link.card) for link in links if link not in slow for end in (link.node, link.peer)
            if link.node != link.peer}  # fmt: skip
    alone = {(link.node, link.card) for link in slow if link.node == link.peer}
    found: dict[str, list[Link]] = {}
    for link in slow:
        ends = [(link.node, link.card), (link.peer, link.card)]
        guilty = {end for end in ends if end in alone} or {end for end in ends if end not in well}
        names = [name for name, _ in guilty] if guilty else [link.node, link.peer]
        if link.node == link.peer or len(names) == 1:
            found.setdefault(names[0], []).append(link)
        else:
            found.setdefault(fold(sorted(names)), []).append(link)
    return found


def _told(links: Sequence[Link]) -> str:
    """Cards by what they reached: `mlx5_3 (rail 3): 98 Gb/s with itself, 98 Gb/s with gpu-002`."""
    cards: dict[tuple[int, str], list[str]] = {}
    for link in sorted(links, key=lambda link: (link.rail, link.node != link.peer, link.node, link.peer)):
        peer = "itself" if link.node == link.peer else f"{link.node} and {link.peer}"
        figure = f"{link.gbps:.0f} Gb/s" if link.gbps is not None else link.said
        cards.setdefault((link.rail, link.card), []).append(
            f"{figure} with {peer}" if link.node == link.peer else f"{figure} between {peer}"
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
