"""Nodes of a pool in equal chunks by their numbers: NVLink domains, and groups that stand together."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from clusterwright.catalog.hardware import Hardware

_NAME = re.compile(r"(.*?)([0-9]+)")


def chunks(nodes: Sequence[str], most: int) -> Mapping[str, int]:
    """Chunk of each node, by the number that ends its name: a node that goes moves no other one."""
    numbered = [_NAME.fullmatch(node) for node in nodes]
    places = [(match[1], int(match[2])) for match in numbered if match]
    if len(set(places)) < len(nodes) or len({stem for stem, _ in places}) > 1:
        return {node: position // most for position, node in enumerate(nodes)}
    return {node: max(0, number - 1) // most for node, (_, number) in zip(nodes, places, strict=True)}


def machines_of_a_domain(hardware: Hardware) -> int:
    """How many machines share one NVLink domain; 0 for a type whose NVLink ends at the machine."""
    gpus = len(hardware.gpus)
    return (hardware.nvlink_domain or 0) // gpus if 0 < gpus < (hardware.nvlink_domain or 0) else 0
