"""A cluster's network as a picture (Mermaid), drawn from what its cloud is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Net:
    """A network, with one line of text for each subnet."""

    name: str
    lines: tuple[str, ...]
    fabric: bool


@dataclass(frozen=True, slots=True)
class Machines:
    """Machines that are alike, and how many cards each has in a network."""

    name: str
    lines: tuple[str, ...]
    cards: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn: ways in and out and file systems stand at the first network."""

    networks: tuple[Net, ...]
    machines: tuple[Machines, ...]
    ways_in: tuple[str, ...]
    ways_out: tuple[str, ...]
    services: tuple[str, ...]


def mermaid(picture: Picture) -> str:
    """The text of a Mermaid flow chart."""
    return "\n".join(["flowchart TB", *_boxes(picture), *_edges(picture)]) + "\n"


def _boxes(picture: Picture) -> Iterator[str]:
    for place, way in enumerate((*picture.ways_in, *picture.ways_out)):
        yield f'  way{place}(["{way}"])'
    for net in picture.networks:
        left, right = ("{{", "}}") if net.fabric else ("[", "]")
        yield f'  {_id(net.name)}{left}"{_lines(net.name, net.lines)}"{right}'
    for machines in picture.machines:
        yield f'  pool-{machines.name}["{_lines(machines.name, machines.lines)}"]'
    for place, service in enumerate(picture.services):
        yield f'  service{place}[("{service}")]'


def _edges(picture: Picture) -> Iterator[str]:
    first = _id(picture.networks[0].name)
    for place in range(len(picture.ways_in)):
        yield f"  way{place} --> {first}"
    for place in range(len(picture.ways_out)):
        yield f"  {first} --> way{place + len(picture.ways_in)}"
    for machines in picture.machines:
        for network, cards in machines.cards:
            label = f'|"{cards} cards"|' if cards > 1 else ""
            yield f"  {_id(network)} ---{label} pool-{machines.name}"
    for place in range(len(picture.services)):
        yield f"  {first} --- service{place}"


def _id(name: str) -> str:
    return "net-" + name.replace(" ", "-")


def _lines(name: str, lines: tuple[str, ...]) -> str:
    return "<br/>".join((f"<b>{name}</b>", *lines))
