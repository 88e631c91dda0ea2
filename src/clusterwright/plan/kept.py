"""What a node on a cloud has on a disk that outlives its machine."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.storage import Served

_GIB = 2**30
_SERVED_GIB = 100
_STATE_GIB = 20


@dataclass(frozen=True, slots=True)
class Kept:
    """What a node has on a volume of its own, so that another machine can take its place."""

    gib: int
    paths: tuple[str, ...]
    snapshot: str | None = None
    """What the volume is made from, when it is made."""


def kept(
    spec: ClusterSpec, roles: tuple[str, ...], dedicated: bool, snapshot: str | None = None
) -> Kept | None:
    """Slurm's state and database of the controller; what is served to other nodes, where it is served.

    `dedicated`: whether another node than the controller serves files.
    """
    controls = "controller" in roles
    serves = "storage" in roles or (controls and not dedicated)
    shares = {mount: one for mount, one in spec.storage.shares.items() if isinstance(one, Served)}
    served = shares if serves else {}
    paths = [*(("/var/lib/mysql", "/var/spool/slurmctld") if controls else ()), *sorted(served)]
    sizes = [-(-one.size // _GIB) if one.size else _SERVED_GIB for one in served.values()]
    return Kept(_STATE_GIB + sum(sizes), tuple(paths), snapshot) if paths else None
