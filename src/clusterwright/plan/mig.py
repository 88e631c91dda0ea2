"""How the GPUs of a pool are cut: every instance with its place, the same for each of its nodes."""

from __future__ import annotations

from collections.abc import Mapping

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.mig import Place, placed, profiles
from clusterwright.spec.mig import Mig

Cut = Mapping[int, tuple[Place, ...]]
"""Instances by the minor of their GPU; a GPU that is not in it is whole."""


def layout_of(mig: Mig, minor: int) -> Mapping[str, int]:
    """Profile → number of instances that a description wants of one GPU."""
    return mig.gpus.get(str(minor), mig.layout)


def cut(mig: Mig | None, hardware: Hardware) -> Cut:
    """Of a description that passed its checks."""
    known = profiles(hardware)
    wanted = {gpu.minor: layout_of(mig, gpu.minor) for gpu in hardware.gpus} if mig else {}
    return {minor: placed(known, layout) or () for minor, layout in sorted(wanted.items()) if layout}
