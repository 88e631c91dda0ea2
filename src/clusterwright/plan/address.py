"""Addresses: a node keeps the one it has, a new node takes the lowest that is free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network

from clusterwright.catalog.subnets import Reserved


def room(network: IPv4Network, kept: Reserved) -> int:
    """How many nodes fit."""
    return max(0, network.num_addresses - kept.first - kept.last)


def prefix_for(nodes: int, kept: Reserved) -> int:
    """The length of the longest prefix that leaves room for so many nodes."""
    return 32 - (nodes + kept.first + kept.last - 1).bit_length()


def assign(
    names: Iterable[str], network: IPv4Network, kept: Reserved, previous: Mapping[str, str]
) -> dict[str, str]:
    """An address for each name, in the order given. The caller has seen to `room`."""
    wanted = list(names)
    first = int(network.network_address) + kept.first
    last = int(network.broadcast_address) - kept.last
    held = _held(wanted, first, last, previous) if previous else {}
    free = _free(first, last, set(held.values()))
    return {name: _text(held[name] if name in held else next(free)) for name in wanted}


def _held(names: list[str], first: int, last: int, previous: Mapping[str, str]) -> dict[str, int]:
    held: dict[str, int] = {}
    taken: set[int] = set()
    for name in names:
        if (text := previous.get(name)) is None:
            continue
        address = int(IPv4Address(text))
        if first <= address <= last and address not in taken:
            held[name] = address
            taken.add(address)
    return held


def _free(first: int, last: int, taken: set[int]) -> Iterator[int]:
    return (address for address in range(first, last + 1) if address not in taken)


def _text(address: int) -> str:
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"
