"""What nodes build from a source, once: where no repository has it for the CUDA and the GPUs of a pool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from clusterwright.bundle.archives import archive_of
from clusterwright.catalog.machines import gpu_models
from clusterwright.handoff import Handoff, Node


@dataclass(frozen=True, slots=True)
class Build:
    """One release of NCCL's tests, for GPUs of some compute capabilities."""

    archive: str
    version: str
    cuda: str
    """Its major version; empty where the site brings CUDA itself."""
    capabilities: tuple[str, ...]
    """None where no source tells that of the pool's GPUs: the tests' own choice is built."""


def nccl_tests(handoff: Handoff, node: Node, installed: Mapping[str, Any]) -> Build | None:
    """For a node whose stack has them, and whose source can be verified."""
    row, hardware = installed.get("nccl_tests"), handoff.hardware[node.machine]
    source = archive_of(handoff, (row["repository"] or "", hardware.architecture)) if row else None
    if row is None or source is None:
        return None
    models = gpu_models().values()
    known = {one.compute_capability for one in models if one.model == hardware.gpu_model}
    cuda = installed["cuda"]["version"].partition(".")[0] if "cuda" in installed else ""
    return Build(source.files[0], row["version"], cuda, tuple(sorted(known - {""}, key=_number)))


def together(builds: Iterable[Build | None]) -> Build | None:
    """One that serves the nodes of all of them: a cluster has one release."""
    found = [build for build in builds if build]
    if not found:
        return None
    every = (
        () if any(not one.capabilities for one in found) else {c for one in found for c in one.capabilities}
    )
    return replace(found[0], capabilities=tuple(sorted(every, key=_number)))


def _number(capability: str) -> float:
    return float(capability)
