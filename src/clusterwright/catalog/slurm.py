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
    imex_switch: bool
    """Whether `switch/nvidia_imex` gives each job a channel between NVLink-connected nodes."""
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
            imex_switch=row["imex_switch"] == "yes",
            source=row["source"],
            date=row["date"],
        )
        for row in rows("slurm_releases")
    }


@dataclass(frozen=True, slots=True)
class Setting:
    """A key of slurm.conf through the releases."""

    name: str
    first: str
    """First release here that is known to take it; `none` where every release here refuses it."""
    last: str
    """Last release that takes it; empty for as long as there are releases."""
    instead: str
    """The key that took its place; may be empty."""
    owned: bool
    """The plan decides it: users may not."""
    restart_before_23_11: tuple[str, ...]
    """Daemons that a change restarts where `scontrol reconfigure` only reads the file again."""
    restart: tuple[str, ...]
    """Daemons that a change restarts from 23.11 on, where `scontrol reconfigure` starts them anew."""
    source: str
    date: str

    def known_to(self, release: str) -> bool:
        """Whether the release takes it. Releases compare as text: two digits, a dot, two digits."""
        return self.first <= release and (not self.last or release <= self.last)


@cache
def settings() -> Mapping[str, Setting]:
    """Every key by its name in lower case: slurm.conf does not mind the case."""
    return {
        row["setting"].lower(): Setting(
            name=row["setting"],
            first=row["first_release"],
            last=row["last_release"],
            instead=row["instead"],
            owned=row["owner"] == "plan",
            restart_before_23_11=tuple(row["restart_before_23_11"].split()),
            restart=tuple(row["restart"].split()),
            source=row["source"],
            date=row["date"],
        )
        for row in rows("slurm_settings")
    }
