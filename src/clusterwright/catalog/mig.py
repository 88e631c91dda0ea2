"""MIG: the pieces that a GPU can be cut into, and where on it they can lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machines import gpu_models
from clusterwright.catalog.table import rows

COMPUTE_SLICES = 7
MEDIA = "+me"
"""Of profiles with the media engines; one GPU has one such instance at most."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to cut a piece from a GPU, in slices of its memory (eight) and of its processors (seven)."""

    name: str
    id: int
    instances: int
    """Most of them on one GPU."""
    slices: int
    compute: int
    starts: tuple[int, ...]
    """Memory slices at which one can begin."""
    source: str
    date: str


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """One instance of a GPU: where it begins, and its profile."""

    start: int
    profile: str


@cache
def families() -> Mapping[str, tuple[Profile, ...]]:
    """Profiles by family of GPUs."""
    found: dict[str, list[Profile]] = {}
    for row in rows("mig_profiles"):
        found.setdefault(row["family"], []).append(
            Profile(
                row["profile"],
                int(row["id"]),
                int(row["instances"]),
                int(row["slices"]),
                int(row["compute"]),
                tuple(map(int, row["starts"].split())),
                row["source"],
                row["date"],
            )
        )
    return {name: tuple(profiles) for name, profiles in found.items()}


def profiles(hardware: Hardware) -> Mapping[str, Profile]:
    """By name, those of a machine's GPUs; none where they have no MIG or no source tells."""
    names = {model.mig for model in gpu_models().values() if model.model == hardware.gpu_model}
    return {
        profile.name: profile
        for family in sorted(names - {""})
        for profile in families()[family]
        if not profile.name.endswith(MEDIA)
    }


def placed(known: Mapping[str, Profile], layout: Mapping[str, int]) -> tuple[Place, ...] | None:
    """Where the instances of a layout lie on one GPU; None when they do not fit on it together.

    The largest first, each as low as it can lie: the same layout always lies the same way.
    """
    wanted = [known[name] for name, count in layout.items() for _ in range(count)]
    if any(count > known[name].instances for name, count in layout.items()):
        return None
    if sum(profile.compute for profile in wanted) > COMPUTE_SLICES:
        return None
    wanted.sort(key=lambda profile: (-profile.slices, -profile.compute, profile.name))
    found = _fitted(wanted, frozenset())
    return None if found is None else tuple(sorted(found))


def _fitted(wanted: Sequence[Profile], taken: frozenset[int]) -> tuple[Place, ...] | None:
    if not wanted:
        return ()
    first, *others = wanted
    for start in first.starts:
        own = frozenset(range(start, start + first.slices))
        if not own & taken and (rest := _fitted(others, taken | own)) is not None:
            return (Place(start, first.name), *rest)
    return None
