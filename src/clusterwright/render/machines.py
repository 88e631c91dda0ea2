"""Compute nodes in groups that are alike, so that slurm.conf and gres.conf name each group once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from clusterwright.catalog.gpu_files import files_of
from clusterwright.catalog.hardware import Hardware
from clusterwright.handoff import Handoff, Node
from clusterwright.spec.nodeset import expand, fold

_USABLE_MEMORY = 0.95


def memory_for_jobs(hardware: Hardware) -> int:
    """In MiB; the kernel and the daemons live in the rest."""
    return int(hardware.memory_mib * _USABLE_MEMORY)


@dataclass(frozen=True, slots=True)
class Group:
    """Compute nodes of one pool with the same machine and features."""

    names: str
    addresses: str | None
    """In the order of the names, so that no daemon looks thousands up; None where some are not planned."""
    pool: str
    hardware: Hardware
    features: tuple[str, ...]

    @property
    def real_memory(self) -> int:
        return memory_for_jobs(self.hardware)

    @property
    def gres(self) -> str | None:
        gpus = len(self.hardware.gpus)
        return f"gpu:{self.hardware.gpu_type}:{gpus}" if gpus else None


def groups(handoff: Handoff) -> tuple[Group, ...]:
    """Groups sorted by pool."""
    members: dict[tuple[str, str, tuple[str, ...]], list[Node]] = defaultdict(list)
    for node in handoff.with_role("compute"):
        members[node.pool, node.machine, node.features].append(node)
    return tuple(_group(members[key], handoff.hardware[key[1]]) for key in sorted(members))


def _group(nodes: list[Node], hardware: Hardware) -> Group:
    by_name = {node.name: node.address for node in nodes}
    names = fold(by_name)
    addresses = [by_name[name] for name in expand(names)]
    folded = fold_addresses(addresses) if all(addresses) else None
    return Group(names, folded, nodes[0].pool, hardware, nodes[0].features)


def fold_addresses(addresses: Iterable[str]) -> str:
    """IPv4 addresses in their order, as ranges of the last number: `10.0.0.[4-255],10.0.1.[0-9]`."""
    runs: list[tuple[str, int, int]] = []
    for address in addresses:
        network, _, text = address.rpartition(".")
        number = int(text)
        if runs and runs[-1][0] == network and runs[-1][2] == number - 1:
            runs[-1] = (network, runs[-1][1], number)
        else:
            runs.append((network, number, number))
    return ",".join(
        f"{network}.{start}" if start == end else f"{network}.[{start}-{end}]" for network, start, end in runs
    )


@dataclass(frozen=True, slots=True)
class Devices:
    """GPUs beside the same cores, as one line of gres.conf names them."""

    files: str
    cores: str


def is_detectable(hardware: Hardware) -> bool:
    """Slurm takes a detected GPU for the wanted type only when its name, so spelt, has the type in it."""
    detected_name = (hardware.gpu_model or "").lower().replace(" ", "_")
    return hardware.gpu_vendor == "nvidia" and str(hardware.gpu_type) in detected_name


def devices(hardware: Hardware) -> tuple[Devices, ...]:
    """GPUs in the order of their minors, which Slurm wants, joined where their cores are the same."""
    runs: list[tuple[str, list[str]]] = []
    files = files_of(hardware)
    for gpu in sorted(hardware.gpus, key=lambda gpu: gpu.minor):
        if runs and runs[-1][0] == gpu.cores:
            runs[-1][1].append(files.of(gpu))
        else:
            runs.append((gpu.cores, [files.of(gpu)]))
    return tuple(Devices(fold(names), cores) for cores, names in runs)
