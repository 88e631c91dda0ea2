"""Machine types with everything that is known of them: hardware, cards, disks, prices, where they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from clusterwright.catalog.hardware import Gpu, Hardware
from clusterwright.catalog.network_cards import NetworkCard, cards_of, nics_of
from clusterwright.catalog.offers import LocalDisks, Offering, Price, disks_of, offering_of, price_of
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
    mig: str
    """Family whose MIG profiles it has; empty where it has none, or no source tells which."""
    compute_capability: str
    """What CUDA's compiler builds for, as `9.0`; empty where CUDA does not run, or no source tells it."""
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class MachineType:
    """A machine type as its provider offers it. An empty tuple is a fact that no source tells."""

    hardware: Hardware
    cards: tuple[NetworkCard, ...]
    fabric_gbps: int | None
    """What the provider says that all cards of the fabric carry together; None without one."""
    local_disks: tuple[LocalDisks, ...] | None
    """NVMe disks that come with it; None where no source tells."""
    placement: tuple[str, ...]
    """Placement strategies: `cluster`, `partition`, `spread` (AWS), `compact` (Google)."""
    capacity: tuple[str, ...]
    """Ways to get it: `on-demand`, `spot`, `reservation`, `capacity-block`, `flex-start`, `dense`."""

    @property
    def name(self) -> str:
        return self.hardware.machine


class MachineCatalog:
    """The tables of one or more folders; rows of a later folder come on top of an earlier one's."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders

    @cached_property
    def gpu_models(self) -> Mapping[str, GpuModel]:
        """By the name that machine rows use."""
        return {row["gpu"]: _gpu_model(row) for row in self._rows("gpus")}

    @cached_property
    def machines(self) -> Mapping[str, Hardware]:
        return {name: kind.hardware for name, kind in self.types.items()}

    @cached_property
    def types(self) -> Mapping[str, MachineType]:
        """Every machine type by name."""
        cards: dict[str, list[Row]] = {}
        for row in self._rows("network_cards"):
            cards.setdefault(row["machine"], []).append(row)
        return {
            row["machine"]: _machine_type(row, cards.get(row["machine"], []), self.gpu_models)
            for row in self._rows("machines")
        }

    @cached_property
    def prices(self) -> Mapping[str, tuple[Price, ...]]:
        """By machine type, in the order of regions and ways to get it."""
        found: dict[str, list[Price]] = {}
        for row in self._rows("prices"):
            found.setdefault(row["machine"], []).append(price_of(row))
        return {name: tuple(prices) for name, prices in found.items()}

    @cached_property
    def offerings(self) -> Mapping[str, Offering]:
        """Where a machine type is sold; none for a type of which no source tells."""
        return {row["machine"]: offering_of(row) for row in self._rows("offerings")}

    def price(self, machine: str, region: str, capacity: str) -> Price | None:
        return next(
            (p for p in self.prices.get(machine, ()) if (p.region, p.capacity) == (region, capacity)), None
        )

    def nearest(self, name: str) -> tuple[str, ...]:
        """Machine types that look like this name, the likeliest first."""
        return tuple(get_close_matches(name.lower(), self.types, n=3, cutoff=0.5))

    def _rows(self, table: str) -> Iterator[Row]:
        for folder in self._folders:
            if (folder / f"{table}.csv").exists():
                yield from rows(table, folder)


def _gpu_model(row: Row) -> GpuModel:
    return GpuModel(
        vendor=row["vendor"],
        generation=row["generation"],
        gres_type=row["gres_type"],
        model=row["model"],
        memory_mib=whole(row["memory_mib"]),
        tdp_watts=whole(row["tdp_watts"]),
        mig=row.get("mig", ""),
        compute_capability=row.get("compute_capability", ""),
        source=row["source"],
        date=row["date"],
    )


def _machine_type(row: Row, card_rows: list[Row], models: Mapping[str, GpuModel]) -> MachineType:
    cards = cards_of(card_rows)
    return MachineType(
        hardware=_hardware(row, cards, models[row["gpu"]] if row["gpu"] else None),
        cards=cards,
        fabric_gbps=whole(row["fabric_gbps"]),
        local_disks=disks_of(row["local_disks"]),
        placement=tuple(row["placement"].split()),
        capacity=tuple(row["capacity"].split()),
    )


def _hardware(row: Row, cards: tuple[NetworkCard, ...], gpu: GpuModel | None) -> Hardware:
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
        nics=nics_of(cards),
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
