"""Machine types as a table that a person chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clusterwright.catalog.choice import CLOUDS, Candidate, Choice
from clusterwright.cli.terminal import machine_words as words
from clusterwright.cli.terminal.table import print_table

_HEADS = (
    *("MACHINE", "GPUS", "CPUS", "MEMORY", "FABRIC", "DISKS"),
    *("$/H", "$/GPU-H", "GOT", "IN", "AS OF", "OTHER WAYS"),
)
_NEAR = 5


def print_choice(choice: Choice) -> None:
    """To standard output: what fits, or what almost does and why not."""
    if choice.fitting:
        print_table(_HEADS, (_row(one) for one in choice.fitting))
        _print_count(choice.fitting)
        return
    print("no machine type fits")
    for one in choice.near[:_NEAR]:
        print(f"  {one.kind.name} would, but {one.misses[0]}")


def as_json(one: Candidate) -> dict[str, Any]:
    """A machine type for a program; null is what no source tells."""
    hardware, price = one.kind.hardware, one.price
    return {
        "machine": one.kind.name,
        "provider": hardware.provider,
        "gpus": len(hardware.gpus),
        "gpu_type": hardware.gpu_type,
        "gpu_memory_mib": hardware.gpu_memory_mib,
        "cpus": hardware.cpus,
        "memory_mib": hardware.memory_mib,
        "fabric_gbps": one.kind.fabric_gbps,
        "capacity": list(one.kind.capacity),
        "regions": None if one.regions is None else list(one.regions),
        "usd_per_hour": price.usd_per_hour if price else None,
        "usd_per_gpu_hour": one.usd_per_gpu_hour,
        "price_of": {"capacity": price.capacity, "region": price.region, "date": price.date}
        if price
        else None,
    }


def _row(one: Candidate) -> tuple[str, ...]:
    hardware, price = one.kind.hardware, one.price
    unknown = words.UNKNOWN if hardware.provider in CLOUDS else ""
    per_gpu = one.usd_per_gpu_hour
    return (
        one.kind.name,
        words.gpus(hardware),
        str(hardware.cpus),
        words.memory(hardware),
        words.fabric(one.kind),
        words.disks(one.kind),
        words.dollars(price.usd_per_hour) if price else unknown,
        words.dollars(per_gpu) if per_gpu is not None else "",
        price.capacity if price else "",
        price.region if price else "",
        price.date if price else "",
        ", ".join(way for way in one.kind.capacity if not price or way != price.capacity),
    )


def _print_count(fitting: Sequence[Candidate]) -> None:
    unpriced = sum(one.price is None and one.kind.hardware.provider in CLOUDS for one in fitting)
    gap = f", {unpriced} of them without a known price" if unpriced else ""
    plural = "s" if len(fitting) > 1 else ""
    print(f"\n{len(fitting)} machine type{plural}{gap}; `clusterwright machines MACHINE` tells all of one")
