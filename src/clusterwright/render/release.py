"""The Slurm release that is rendered for."""

from __future__ import annotations

from clusterwright.catalog.slurm import SlurmRelease, releases
from clusterwright.finding import Where, refuse

__all__ = ["SlurmRelease", "release"]


def release(name: str) -> SlurmRelease:
    """The release of that name, or Refused."""
    known = releases()
    if name not in known:
        what = f"Slurm release '{name}' is not supported"
        raise refuse("CW3001", Where(path="scheduler.release"), what, f"Use one of {', '.join(known)}")
    return known[name]
