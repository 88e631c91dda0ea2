"""Addresses: a node keeps the one it has, a new node takes the lowest that is free."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network

RESERVED = 3
"""The network's own address, the gateway (.1) and the broadcast address."""


def gateway(network: IPv4Network) -> str:
    """The first address of a network belongs to its gateway."""
    return _text(int(network.network_address) + 1)


def room(network: IPv4Network) -> int:
    """How many nodes fit."""
    return max(0, network.num_addresses - RESERVED)


def assign(names: Iterable[str], network: IPv4Network, previous: Mapping[str, str]) -> dict[str, str]:
    """An address for each name, in the order given. The caller has seen to `room`."""
    wanted = list(names)
    first, last = int(network.network_address) + 2, int(network.broadcast_address) - 1
    kept = _kept(wanted, first, last, previous) if previous else {}
    free = _free(first, last, set(kept.values()))
    return {name: _text(kept[name] if name in kept else next(free)) for name in wanted}


def _kept(names: list[str], first: int, last: int, previous: Mapping[str, str]) -> dict[str, int]:
    kept: dict[str, int] = {}
    taken: set[int] = set()
    for name in names:
        if (text := previous.get(name)) is None:
            continue
        address = int(IPv4Address(text))
        if first <= address <= last and address not in taken:
            kept[name] = address
            taken.add(address)
    return kept


def _free(first: int, last: int, taken: set[int]) -> Iterator[int]:
    return (address for address in range(first, last + 1) if address not in taken)


def _text(address: int) -> str:
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"
