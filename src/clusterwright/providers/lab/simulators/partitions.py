"""MIG: which profiles a GPU has, which instances a node made of them, and where they lie on the GPU."""

from __future__ import annotations

import csv
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .node import Node

_FIRST_INSTANCE = {"7g": 0, "4g": 1, "3g": 1, "2g": 3, "1g": 7}
"""The lowest instance id that a profile of this size is given."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to cut a piece from a GPU; sizes in memory slices of eight and compute slices of seven."""

    name: str
    id: int
    compute_id: int
    instances: int
    memory_gib: str
    slices: int
    compute: int
    starts: tuple[int, ...]
    """Memory slices at which it can begin."""
    parts: Mapping[str, str]
    """Multiprocessors and engines as `mig -lgip` shows them; empty where no source tells."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A GPU instance, with the one compute instance that fills it when `compute` is true."""

    profile: str
    id: int
    start: int
    compute: bool = False


def profiles(family: str | None) -> tuple[Profile, ...]:
    """The profiles of a GPU model's family, the smallest first."""
    path = Path(__file__).with_name("mig_profiles.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["family"] == family]
    names = ("sm", "decoders", "encoders", "copy_engines", "jpeg", "ofa")
    return tuple(
        Profile(
            row["profile"], int(row["id"]), int(row["compute_id"]), int(row["instances"]), row["memory_gib"],
            int(row["slices"]), int(row["compute"]), tuple(map(int, row["starts"].split())),
            {name: row[name] for name in names},
        )
        for row in rows
    )  # fmt: skip


def profile_of(family: str | None, name: str) -> Profile:
    return next(each for each in profiles(family) if each.name == name)


def memory_of(profile: Profile, whole_mib: int) -> int:
    """MiB of an instance: as a capture tells its GiB, in steps of 64 MiB, else its share of the GPU."""
    return (
        64 * round(float(profile.memory_gib) * 16) if profile.memory_gib else whole_mib * profile.slices // 8
    )


def instances(node: Node, gpu: str) -> tuple[Instance, ...]:
    """What was made of the GPU with this UUID since the node booted."""
    kept = (node.setting("mig_instances") or {}).get(gpu, [])
    return tuple(Instance(**entry) for entry in kept)


def keep(node: Node, gpu: str, made: Iterable[Instance]) -> None:
    known = dict(node.setting("mig_instances") or {})
    known[gpu] = [asdict(instance) for instance in made]
    node.remember("mig_instances", known)


def placed(
    profile: Profile,
    known: tuple[Instance, ...],
    all_profiles: tuple[Profile, ...],
    wanted: int | None = None,
) -> Instance | None:
    """A new instance where there is room for it, or at the wanted slice; None when there is not."""
    sizes = {each.name: each.slices for each in all_profiles}
    taken = {
        each for instance in known for each in range(instance.start, instance.start + sizes[instance.profile])
    }
    if sum(instance.profile == profile.name for instance in known) >= profile.instances:
        return None
    starts = [start for start in profile.starts if wanted in (None, start)]
    free = [start for start in starts if not taken & set(range(start, start + profile.slices))]
    if not free:
        return None
    used = {instance.id for instance in known}
    first = _FIRST_INSTANCE[profile.name.partition(".")[0]]
    return Instance(profile.name, next(id for id in range(first, 64) if id not in used), free[0])


def device_uuid(gpu: str, instance: Instance) -> str:
    """The same for one place on one GPU, as the driver's are."""
    return f"MIG-{uuid.uuid5(uuid.NAMESPACE_OID, f'{gpu}/{instance.id}/0')}"
