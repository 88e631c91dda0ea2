"""The disk that a machine of a cloud boots from."""

from __future__ import annotations

from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.spec.pool import Pool

_GIB = 2**30
_DISK_GIB, _GPU_DISK_GIB = 100, 200


def boot_gib(pool: Pool, kind: MachineType) -> int:
    """What the pool asks for, else enough for what is installed; drivers and libraries of GPUs are large."""
    if pool.disk is not None:
        return -(-pool.disk // _GIB)
    return _GPU_DISK_GIB if kind.hardware.gpus else _DISK_GIB
