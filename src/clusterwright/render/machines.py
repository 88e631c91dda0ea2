"""Compute nodes in groups that are alike, so that slurm.conf and gres.conf name each group once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clusterwright.catalog.gpu_files import files_of
from clusterwright.catalog.hardware import Hardware
from clusterwright.handoff import Handoff, Node
from clusterwright.spec.nodeset import expand, fold

_USABLE_MEMORY = 0.95
SHARED = {"shard": "shards", "mps": "mps"}
"""What Slurm calls a part of a GPU → where the hand-off has their number."""
INSTANCES = "/dev/mig"
"""Where the files of GPU instances (MIG) are."""


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
    gpus: int
    """As jobs count them."""
    cut: Mapping[str, Sequence[Mapping[str, Any]]]
    """Instances by the minor of their GPU."""
    shared: Mapping[str, int]
    """Parts of all GPUs together that jobs may ask for, by the name that Slurm has for their kind."""

    @property
    def real_memory(self) -> int:
        return memory_for_jobs(self.hardware)

    @property
    def gres(self) -> str | None:
        whole = len(self.hardware.gpus) - len(self.cut)
        kinds = Counter(each["profile"] for instances in self.cut.values() for each in instances)
        parts = [f"gpu:{self.hardware.gpu_type}:{whole}"] if whole else []
        parts += [f"gpu:{instance_type(self.hardware, name)}:{kinds[name]}" for name in sorted(kinds)]
        parts += [f"{kind}:{count}" for kind, count in self.shared.items()]
        return ",".join(parts) or None


def groups(handoff: Handoff) -> tuple[Group, ...]:
    """Groups sorted by pool."""
    members: dict[tuple[str, str, tuple[str, ...]], list[Node]] = defaultdict(list)
    for node in handoff.with_role("compute"):
        members[node.pool, node.machine, node.features].append(node)
    return tuple(_group(handoff, members[key]) for key in sorted(members))


def _group(handoff: Handoff, nodes: list[Node]) -> Group:
    hardware, pool = handoff.hardware[nodes[0].machine], nodes[0].pool
    by_name = {node.name: node.address for node in nodes}
    names = fold(by_name)
    addresses = [by_name[name] for name in expand(names)]
    folded = fold_addresses(addresses) if all(addresses) else None
    cut = cut_of(handoff, nodes[0])
    shared = _shared(handoff, nodes[0])
    return Group(names, folded, pool, hardware, nodes[0].features, nodes[0].gpus, cut, shared)


def _shared(handoff: Handoff, node: Node) -> Mapping[str, int]:
    parts = {kind: handoff.scheduler.get(key, {}).get(node.pool, 0) for kind, key in SHARED.items()}
    gpus = len(handoff.hardware[node.machine].gpus)
    return {kind: count * gpus for kind, count in parts.items() if count}


def instance_type(hardware: Hardware, profile: str) -> str:
    """What jobs ask for: `h100_1g.10gb`."""
    return f"{hardware.gpu_type}_{profile}"


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
    """One line of gres.conf: GPUs beside the same cores, or an instance of one."""

    type: str
    files: str
    cores: str
    several: bool = False
    """Several files are one device."""


def is_detectable(hardware: Hardware) -> bool:
    """Slurm takes a detected GPU for the wanted type only when its name, so spelt, has the type in it."""
    detected_name = (hardware.gpu_model or "").lower().replace(" ", "_")
    return hardware.gpu_vendor == "nvidia" and str(hardware.gpu_type) in detected_name


def devices(group: Group) -> tuple[Devices, ...]:
    """GPUs in the order of their minors, which Slurm wants, joined where their cores are the same."""
    lines: list[Devices] = []
    runs: list[tuple[str, list[str]]] = []
    hardware, files = group.hardware, files_of(group.hardware)
    for gpu in sorted(hardware.gpus, key=lambda gpu: gpu.minor):
        if str(gpu.minor) in group.cut:
            for instance in group.cut[str(gpu.minor)]:
                name = ",".join([files.of(gpu), *instance_files(gpu.minor, instance["start"])])
                lines.append(Devices(instance_type(hardware, instance["profile"]), name, gpu.cores, True))
        elif runs and runs[-1][0] == gpu.cores:
            runs[-1][1].append(files.of(gpu))
        else:
            runs.append((gpu.cores, [files.of(gpu)]))
    whole = [Devices(str(hardware.gpu_type), fold(names), cores) for cores, names in runs]
    return (*whole, *lines)


def files_by_index(handoff: Handoff, node: Node) -> tuple[tuple[str, ...], ...]:
    """The files of each GPU and instance of a node, in the order in which Slurm counts them."""
    hardware, cut = handoff.hardware[node.machine], cut_of(handoff, node)
    gpus = sorted(hardware.gpus, key=lambda gpu: gpu.minor)
    whole = [(files_of(hardware).of(gpu),) for gpu in gpus if str(gpu.minor) not in cut]
    instances = [
        (files_of(hardware).of(gpu), *instance_files(gpu.minor, each["start"]))
        for gpu in gpus
        for each in cut.get(str(gpu.minor), ())
    ]
    return (*whole, *instances)


def cut_of(handoff: Handoff, node: Node) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Instances of a node by the minor of their GPU; empty where jobs get whole GPUs only."""
    found: Mapping[str, Any] = handoff.scheduler["mig"].get(node.pool, {})
    return found


def instance_files(minor: int, start: int) -> tuple[str, str]:
    """Links that the role `mig` keeps to the files that a program with the instance opens beside its GPU's.

    The driver numbers instances as it makes them, so that their own files can be named on the node only.
    """
    return f"{INSTANCES}/{minor}.{start}-instance", f"{INSTANCES}/{minor}.{start}-compute"
