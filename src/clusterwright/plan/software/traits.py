"""What a pool is to the solver: a machine type, its architecture, and the traits that rules speak of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clusterwright.catalog.gpu_health import RDMA_KINDS
from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machines import gpu_models

_NVSWITCH_GPUS = 8
"""A machine with this many GPUs in one NVLink domain joins them by NVSwitch: HGX and DGX."""
_RACK_GPUS = 36
"""From here on the domain spans machines: NVL36 and NVL72."""


@dataclass(frozen=True, slots=True)
class PoolFacts:
    """What is known of a pool's machines."""

    machine: str
    architecture: str
    traits: frozenset[str]


def traits(hardware: Hardware) -> frozenset[str]:
    """What rules may ask about a machine type: `vendor:nvidia`, `nvswitch`, `nic:efa` …"""
    return frozenset(_traits(hardware))


def _traits(hardware: Hardware) -> Iterator[str]:
    yield f"machine:{hardware.machine}"
    yield f"architecture:{hardware.architecture}"
    yield f"provider:{hardware.provider}"
    yield from (f"nic:{nic.kind}" for nic in hardware.nics)
    if not hardware.gpus:
        return
    yield from (f"gpu:{name}" for name, model in gpu_models().items() if model.model == hardware.gpu_model)
    yield f"vendor:{hardware.gpu_vendor}"
    yield f"generation:{hardware.gpu_generation}"
    several = len(hardware.gpus) > 1 or any(nic.kind in RDMA_KINDS for nic in hardware.nics)
    if hardware.gpu_vendor == "nvidia" and several:
        yield "collective"
    domain = hardware.nvlink_domain or 1
    if hardware.gpu_vendor == "nvidia" and _NVSWITCH_GPUS <= domain < _RACK_GPUS:
        yield "nvswitch"
        if hardware.gpu_generation in ("blackwell", "blackwell-ultra"):
            yield "nvlink5"
    elif domain >= _RACK_GPUS:
        yield "nvl72"
