"""Machine types: what a node has inside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from clusterwright.catalog.hardware import Gpu, Hardware, Nic
from clusterwright.catalog.table import Row, rows, whole


@dataclass(frozen=True, slots=True)
class GpuModel:
    """A GPU as its vendor sells it."""

    vendor: str
    generation: str
    gres_type: str
    model: str
    memory_mib: int | None
    tdp_watts: int | None
    source: str
    date: str


@cache
def gpu_models() -> Mapping[str, GpuModel]:
    """GPU models by the name that machine rows use."""
    return {
        row["gpu"]: GpuModel(
            vendor=row["vendor"],
            generation=row["generation"],
            gres_type=row["gres_type"],
            model=row["model"],
            memory_mib=whole(row["memory_mib"]),
            tdp_watts=whole(row["tdp_watts"]),
            source=row["source"],
            date=row["date"],
        )
        for row in rows("gpus")
    }


@cache
def machines() -> Mapping[str, Hardware]:
    """Every machine type by name."""
    return {row["machine"]: _hardware(row) for row in rows("machines")}


def machine(name: str) -> Hardware | None:
    """The machine type of this name, if the catalog has it."""
    return machines().get(name)


def nearest(name: str) -> tuple[str, ...]:
    """Machine types that look like this name, the likeliest first."""
    return tuple(get_close_matches(name.lower(), machines(), n=3, cutoff=0.5))


def _hardware(row: Row) -> Hardware:
    gpu = gpu_models()[row["gpu"]] if row["gpu"] else None
    return Hardware(
        machine=row["machine"],
        provider=row["provider"],
        architecture=row["architecture"],
        sockets=int(row["sockets"]),
        cores_per_socket=int(row["cores_per_socket"]),
        threads_per_core=int(row["threads_per_core"]),
        memory_mib=int(row["memory_mib"]),
        gpu_type=gpu.gres_type if gpu else None,
        gpu_model=gpu.model if gpu else None,
        gpu_vendor=gpu.vendor if gpu else None,
        gpu_generation=gpu.generation if gpu else None,
        gpu_memory_mib=gpu.memory_mib if gpu else None,
        gpus=_gpus(row),
        nics=_nics(row["nics"]),
        power_watts=whole(row["power_watts"]),
        nvlink_domain=whole(row["nvlink_domain"]),
        source=row["source"],
        date=row["date"],
    )


def _gpus(row: Row) -> tuple[Gpu, ...]:
    """GPUs in the order of their minors; those on one NUMA node share all of its physical cores."""
    cores = int(row["sockets"]) * int(row["cores_per_socket"]) // int(row["numa_nodes"])
    places = [int(numa) for numa in row["gpu_numa"].split()]
    addresses: list[str | None] = [_pci(text) for text in row["gpu_pci"].split()]
    return tuple(
        Gpu(minor=minor, pci=pci, numa=numa, cores=f"{numa * cores}-{numa * cores + cores - 1}")
        for minor, (numa, pci) in enumerate(zip(places, addresses or [None] * len(places), strict=True))
    )


def _pci(text: str) -> str:
    """`1b:00` → `0000:1b:00.0`, as sysfs names it."""
    return f"{text if text.count(':') == 2 else f'0000:{text}'}.0"


def _nics(text: str) -> tuple[Nic, ...]:
    """`ethernet:1x100 infiniband:8x400` → nine cards."""
    kinds: list[tuple[str, int]] = []
    for group in text.split():
        kind, _, size = group.partition(":")
        count, _, gbps = size.partition("x")
        kinds += [(kind, int(gbps))] * int(count)
    return tuple(Nic(index=index, kind=kind, gbps=gbps) for index, (kind, gbps) in enumerate(kinds))
