"""Slurm releases: until when each is supported, and what each knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows


@dataclass(frozen=True, slots=True)
class SlurmRelease:
    """A Slurm release that can be rendered."""

    release: str
    end_of_support: str
    """Year and month."""
    auth: str
    """The best authentication that it has: `slurm` (SACK) or `munge`."""
    sackd: bool
    """Whether login nodes run sackd."""
    topology_file: str
    """`topology.conf` or `topology.yaml`."""
    openmetrics: bool
    """Whether slurmctld itself answers Prometheus."""
    node_changes: str
    """What slurmctld needs to learn of new and removed nodes: `reload` or `restart`."""
    detects_nvidia: bool
    """Whether `AutoDetect=nvidia` reads the driver's own files, without NVML at build time."""
    source: str
    date: str


@cache
def releases() -> Mapping[str, SlurmRelease]:
    """Every release by number, the oldest first."""
    return {
        row["release"]: SlurmRelease(
            release=row["release"],
            end_of_support=row["end_of_support"],
            auth=row["auth"],
            sackd=row["authentication_kiosk"] == "sackd",
            topology_file=row["topology_file"],
            openmetrics=row["openmetrics"] == "yes",
            node_changes=row["node_changes"],
            detects_nvidia=row["detects_nvidia"] == "yes",
            source=row["source"],
            date=row["date"],
        )
        for row in rows("slurm_releases")
    }
