"""Facts of machine types in the words that a person reads."""

from __future__ import annotations

from clusterwright.catalog.choice import CLOUDS
from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.offers import LocalDisks

UNKNOWN = "unknown"


def gpus(hardware: Hardware) -> str:
    """`8 × h100 80 GB`: memory as it is sold, rounded."""
    if not hardware.gpus:
        return ""
    size = f" {round((hardware.gpu_memory_mib or 0) / 1024)} GiB" if hardware.gpu_memory_mib else ""
    return f"{len(hardware.gpus)} × {hardware.gpu_type}{size}"


def memory(hardware: Hardware) -> str:
    return f"{hardware.memory_mib // 1024:,} GiB"


def fabric(kind: MachineType) -> str:
    """`3200G efa`; empty where machines talk over their ordinary network."""
    if kind.fabric_gbps is None:
        return ""
    return f"{kind.fabric_gbps}G {next(card.kind for card in kind.cards if card.is_fabric)}"


def disks(kind: MachineType) -> str:
    """`8 × 3.8 TB`; `unknown` of a cloud's machine is a gap, of one's own it is as built."""
    if kind.local_disks is None:
        return UNKNOWN if kind.hardware.provider in CLOUDS else ""
    return " + ".join(_disks(one) for one in kind.local_disks)


def _disks(one: LocalDisks) -> str:
    size = one.size_bytes / 10**9
    return f"{one.count} × {size / 1000:.2g} TB" if size >= 1000 else f"{one.count} × {size:.0f} GB"


def dollars(usd: float) -> str:
    return f"${usd:,.2f}"
