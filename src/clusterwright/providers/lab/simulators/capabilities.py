"""The files that a program with a MIG instance opens: their numbers, as the driver counts them."""

from __future__ import annotations

from collections.abc import Iterator

from .hardware import Hardware

_GPU_INSTANCES, _COMPUTE_INSTANCES = 15, 8
_FIRST = 3
"""After `config` and `monitor`."""
_OF_INSTANCE = 1 + _COMPUTE_INSTANCES
HIGHEST_INSTANCE = 13
"""That a simulated driver numbers."""


def number(gpu: int, instance: int, compute: int | None = None) -> int:
    """Of a GPU instance, or of a compute instance in it; NVIDIA's MIG user guide shows the whole table."""
    first = _FIRST + (gpu * _GPU_INSTANCES + instance) * _OF_INSTANCE
    return first if compute is None else first + 1 + compute


def minors(hardware: Hardware) -> str:
    """/proc/driver/nvidia-caps/mig-minors, for the GPUs that are there."""
    lines = ["config 1", "monitor 2"]
    for gpu in hardware.present:
        for instance in range(_GPU_INSTANCES):
            name = f"gpu{gpu.minor}/gi{instance}"
            lines.append(f"{name}/access {number(gpu.minor, instance)}")
            lines += [
                f"{name}/ci{compute}/access {number(gpu.minor, instance, compute)}"
                for compute in range(_COMPUTE_INSTANCES)
            ]
    return "".join(f"{line}\n" for line in lines)


def in_use(hardware: Hardware) -> Iterator[int]:
    """Numbers that instances of these GPUs can have; each has one compute instance."""
    for gpu in hardware.present:
        for instance in range(HIGHEST_INSTANCE + 1):
            yield number(gpu.minor, instance)
            yield number(gpu.minor, instance, 0)
