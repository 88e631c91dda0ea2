"""Compact placement: which nodes are made close together, in groups that Google takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from clusterwright.catalog.cloud import PlacementGroup, placement_group
from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.plan.gcp.model import PlacementPolicy
from clusterwright.spec.pool import Pool, Role

_RESERVED = {"reservation", "dense"}
"""A reservation has the policy that it was bought with; A4X takes an NVLink domain's besides."""
_NAME = re.compile(r"(.*?)([0-9]+)")


def policies(
    pool_name: str, pool: Pool, kind: MachineType, nodes: Sequence[str]
) -> Mapping[str, PlacementPolicy]:
    """Policy of each node of a pool; none for a node that stands alone, or that no fabric reaches."""
    group = group_of(pool, kind)
    if group is None or len(nodes) < 2:
        return {}
    return {
        node: PlacementPolicy(f"{pool_name}-{number + 1:02d}", group.gpu_topology, pool.max_distance)
        for node, number in chunks(nodes, group.nodes).items()
    }


def chunks(nodes: Sequence[str], most: int) -> Mapping[str, int]:
    """Chunk of each node, by the number that ends its name: a node that goes moves no other one."""
    numbered = [_NAME.fullmatch(node) for node in nodes]
    places = [(match[1], int(match[2])) for match in numbered if match]
    if len(set(places)) < len(nodes) or len({stem for stem, _ in places}) > 1:
        return {node: position // most for position, node in enumerate(nodes)}
    return {node: max(0, number - 1) // most for node, (_, number) in zip(nodes, places, strict=True)}


def group_of(pool: Pool, kind: MachineType) -> PlacementGroup | None:
    """What these machines are made close together in; None where nothing of the kind is made."""
    group = placement_group("gcp", kind.name)
    if group is None or Role.COMPUTE not in pool.roles or kind.fabric_gbps is None:
        return None
    reserved = pool.capacity is not None and pool.capacity.model in _RESERVED
    return None if reserved and not group.gpu_topology else group
