"""Compact placement: which nodes are made close together, in groups that Google takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterwright.catalog.cloud import PlacementGroup, placement_group
from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.plan.domains import chunks
from clusterwright.plan.gcp.model import PlacementPolicy
from clusterwright.spec.pool import Pool, Role

_RESERVED = {"reservation", "dense"}
"""A reservation has the policy that it was bought with; A4X takes an NVLink domain's besides."""
MOST_OF_A_GROUP = 1000
"""Compute Engine documentation, managed instance groups: machines of a zonal group (2026-11)."""


def policies(
    pool_name: str, pool: Pool, kind: MachineType, nodes: Sequence[str]
) -> Mapping[str, PlacementPolicy]:
    """Policy of each node of a pool; none for a node that stands alone, or that no fabric reaches."""
    group = group_of(pool, kind)
    if group is None or len(nodes) < 2:
        return {}
    return {
        node: PlacementPolicy(
            number_of(pool_name, number),
            group.gpu_topology,
            pool.max_distance,
            of_group=pool.group and group.gpu_topology is not None,
        )
        for node, number in chunks(nodes, _size(pool, group)).items()
    }


def groups(
    pool_name: str, pool: Pool, kind: MachineType, nodes: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    """Nodes by the managed instance group that keeps them, none without `group`. Machines of two policies
    are never in one, because a group has one template."""
    found: dict[str, list[str]] = {}
    if pool.group:
        for node, number in chunks(nodes, _size(pool, group_of(pool, kind))).items():
            found.setdefault(number_of(pool_name, number), []).append(node)
    return found


def number_of(pool_name: str, number: int) -> str:
    """Name of a policy or a group of the pool."""
    return f"{pool_name}-{number + 1:02d}"


def _size(pool: Pool, group: PlacementGroup | None) -> int:
    together = group.nodes if group else MOST_OF_A_GROUP
    return min(together, MOST_OF_A_GROUP) if pool.group else together


def group_of(pool: Pool, kind: MachineType) -> PlacementGroup | None:
    """What these machines are made close together in; None where nothing of the kind is made."""
    group = placement_group("gcp", kind.name)
    if group is None or Role.COMPUTE not in pool.roles or kind.fabric_gbps is None:
        return None
    reserved = pool.capacity is not None and pool.capacity.model in _RESERVED
    return None if reserved and not group.gpu_topology else group
