"""Machine types that come with clusterwright: what a node has inside."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machine_catalog import GpuModel, MachineCatalog
from clusterwright.catalog.table import DATA

__all__ = ["GpuModel", "catalog", "gpu_models", "machine", "machines", "nearest", "virtual_mtu"]


@cache
def catalog() -> MachineCatalog:
    """The tables that come with clusterwright."""
    return MachineCatalog(DATA)


def gpu_models() -> Mapping[str, GpuModel]:
    """GPU models by the name that machine rows use."""
    return catalog().gpu_models


def machines() -> Mapping[str, Hardware]:
    """Every machine type by name."""
    return catalog().machines


def machine(name: str) -> Hardware | None:
    """The machine type of this name, if the catalog has it."""
    return machines().get(name)


def nearest(name: str) -> tuple[str, ...]:
    """Machine types that look like this name, the likeliest first."""
    return catalog().nearest(name)


def virtual_mtu(name: str) -> int | None:
    """What the networks of a machine's gVNIC cards are made with; None where any will do or none is known."""
    kind = catalog().types.get(name)
    told = {card.mtu for card in kind.cards if card.kind == "gvnic" and card.mtu} if kind else set()
    return min(told, default=None)
