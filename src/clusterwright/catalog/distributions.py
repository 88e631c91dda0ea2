"""Distributions: the Slurm that each carries, and what its packages and services are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from clusterwright.catalog.table import rows

Format = Literal["deb", "rpm"]
"""Which package manager the distribution has: apt or dnf."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a node can be given: its packages, and the units that they bring. Without packages: no
    source tells what they are called."""

    packages: tuple[str, ...]
    services: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution as far as a cluster needs to know it."""

    name: str
    family: str
    codename: str
    packages: Format
    slurm_release: str
    """Release of the Slurm packages in its own archive, supported here or not; empty where it has none."""
    slurm_version: str
    python: str
    """Which `/usr/bin/python3` is."""
    newer_python: str
    """Package and program, such as `python3.11`, where `/usr/bin/python3` is too old to run Ansible."""
    parts: Mapping[str, Part]
    """`base`, `pull`, `controller`, `database`, `compute`, `login`, `rest`, `munge`, `mpi`, `storage-server`,
    `storage-client`, `monitoring`, `node-exporter`, `containers`, `rdma`, `network-boot`,
    `boot-image`: what an image for network boot has beside the software of its nodes."""
    source: str
    date: str

    @property
    def runs_roles(self) -> str:
        """The version of Python with which a node runs the roles on itself."""
        return self.newer_python.removeprefix("python") or self.python


@cache
def distributions() -> Mapping[str, Distribution]:
    """Every distribution by name."""
    parts: dict[str, dict[str, Part]] = {}
    for row in rows("packages"):
        part = Part(tuple(row["packages"].split()), tuple(row["services"].split()))
        parts.setdefault(row["distribution"], {})[row["part"]] = part
    return {
        row["distribution"]: Distribution(
            name=row["distribution"],
            family=row["family"],
            codename=row["codename"],
            packages="rpm" if row["packages"] == "rpm" else "deb",
            slurm_release=row["slurm_release"],
            slurm_version=row["slurm_version"],
            python=row["python"],
            newer_python=row["newer_python"],
            parts=parts[row["distribution"]],
            source=row["source"],
            date=row["date"],
        )
        for row in rows("distributions")
    }


def distribution(name: str) -> Distribution:
    """The distribution of this name; the description admits no other."""
    return distributions()[name]
