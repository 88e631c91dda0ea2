"""Described cables of an Ethernet fabric held against what its devices heard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clusterwright.accept.wired import compare
from clusterwright.accept.wired.announced import announced, fabric_interfaces
from clusterwright.accept.wired.neighbours import Heard
from clusterwright.finding import Finding, Where
from clusterwright.operate.lldp.collect import Collected, from_files, over_ssh
from clusterwright.operate.own.site import own_site
from clusterwright.operate.source import Source
from clusterwright.operate.wired import Verified, cables
from clusterwright.plan.wiring import Wiring
from clusterwright.spec.nodeset import fold

_SHOWN = 8


def verify(source: Source, told: Sequence[Path] = ()) -> Verified:
    """Compare with files of what was heard, or ask every node. Raises Refused where neither can begin."""
    wiring, _ = cables(source)
    return hold(wiring, from_files(wiring, told) if told else over_ssh(wiring, own_site(source).targets))


def hold(wiring: Wiring, collected: Collected) -> Verified:
    """A finding for each cable that is not as drawn, after those for devices that told nothing of use."""
    useless = [*_useless(wiring, collected.heard)]
    skipped = {name for names, _ in useless for name in names}
    heard = {name: told for name, told in collected.heard.items() if name not in skipped}
    found = announced(wiring, heard)
    looked = tuple(heard)
    findings = (
        *collected.findings,
        *(finding for _, finding in useless),
        *compare(wiring, found, looked_at=looked),
    )
    unseen = sum(not {cable.lower.device, cable.upper.device} & heard.keys() for cable in wiring.cables)
    return Verified(wiring, len(found.links) // 2, findings, unseen)


def _useless(wiring: Wiring, heard: Mapping[str, Heard]) -> Iterator[tuple[list[str], Finding]]:
    """Devices of which nothing follows for any cable, those alike told once."""
    described = fabric_interfaces(wiring)
    quiet = [name for name, told in heard.items() if not any(told.neighbours.values())]
    if quiet:
        remedy = (
            "See that LLDP is on at the switches, sending and receiving, and that lldpd runs as it should"
        )
        yield (
            quiet,
            Finding("CW8235", Where(path=fold(quiet)), "no neighbour is heard on any interface", remedy),
        )
    others: dict[tuple[str, ...], list[str]] = {}
    for name, told in heard.items():
        there = set(told.neighbours) | told.interfaces
        if name in described and name not in quiet and not there & set(described[name]):
            others.setdefault(tuple(sorted(told.neighbours)), []).append(name)
    for interfaces, names in others.items():
        wanted, seen = _some(described[names[0]]), _some(interfaces)
        what = f"nobody is heard on the described interfaces ({wanted}), but on {seen}"
        remedy = (
            "Write what nodes call these interfaces into `fabric.switches.devices`, in the order of rails"
        )
        yield names, Finding("CW8234", Where(path=fold(names)), what, remedy)


def _some(names: tuple[str, ...] | list[str]) -> str:
    more = ", …" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
