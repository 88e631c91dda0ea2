"""What a Slurm release can do, as far as rendering asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from clusterwright.finding import Where, refuse
from clusterwright.spec.scheduler import SlurmRelease

SUPPORTED: tuple[str, ...] = get_args(SlurmRelease)


@dataclass(frozen=True, slots=True)
class Release:
    """A Slurm release; releases sort as their names do."""

    name: str

    @property
    def sack(self) -> bool:
        """auth/slurm with its key daemon, instead of munge."""
        return self.name >= "23.11"

    @property
    def reconfigure_adds_nodes(self) -> bool:
        """`scontrol reconfigure` takes new and removed nodes; before, the daemons are restarted."""
        return self.name >= "23.11"

    @property
    def configless_login(self) -> bool:
        """`sackd --conf-server` fetches the configuration on login nodes."""
        return self.name >= "24.05"

    @property
    def detects_nvidia(self) -> bool:
        """`AutoDetect=nvidia` reads the driver's own files and needs no vendor library at build time."""
        return self.name >= "24.11"

    @property
    def yaml_topology(self) -> bool:
        return self.name >= "25.05"

    @property
    def openmetrics(self) -> bool:
        """slurmctld serves metrics itself."""
        return self.name >= "25.11"


def release(name: str) -> Release:
    """The release of that name, or Refused."""
    if name not in SUPPORTED:
        what = f"Slurm release '{name}' is not supported"
        raise refuse("CW3001", Where(path="scheduler.release"), what, f"Use one of {', '.join(SUPPORTED)}")
    return Release(name)
