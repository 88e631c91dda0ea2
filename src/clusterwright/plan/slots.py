"""Where in a cloud's network each node's address is, so that no other node's change moves it.

A stack has nothing but the description to plan from, so the address follows from it: each pool has a part of
the network, in the order of the description, and each node the place of its number there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network

from clusterwright.catalog.subnets import Reserved

PARTS = 16
"""Pools that have a part of their own."""
_NUMBER = re.compile(r"\d{1,9}$")


def part_size(network: IPv4Network, kept: Reserved) -> int:
    """How many nodes of one pool have a place of their own."""
    return max(0, network.num_addresses // PARTS - kept.first - kept.last)


def parts(network: IPv4Network) -> Iterator[IPv4Network]:
    """In the order of the pools."""
    return network.subnets(prefixlen_diff=PARTS.bit_length() - 1)


def slots(pools: Mapping[str, Sequence[str]], network: IPv4Network, kept: Reserved) -> dict[str, str]:
    """Addresses by node; none for a node that its pool's part has no place for."""
    size = part_size(network, kept)
    found: dict[str, str] = {}
    for part, names in enumerate(list(pools.values())[:PARTS]):
        first = int(network.network_address) + part * (network.num_addresses // PARTS) + kept.first
        for name, place in zip(names, places(names), strict=True):
            if place < size:
                found[name] = str(IPv4Address(first + place))
    return found


def places(names: Sequence[str]) -> list[int]:
    """The number that each name ends in; where names have none of their own, their order."""
    numbers = [int(match[0]) if (match := _NUMBER.search(name)) else None for name in names]
    told = [number for number in numbers if number is not None]
    unique = len(told) == len(names) and len(set(told)) == len(names)
    return told if unique else list(range(len(names)))
