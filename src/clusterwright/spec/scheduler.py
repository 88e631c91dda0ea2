"""Slurm: what users may decide about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, WithJsonSchema

from clusterwright.spec.base import Described
from clusterwright.spec.name import Label
from clusterwright.spec.parallel import Path
from clusterwright.spec.quantity import Seconds

OPTION = r"^[A-Za-z][A-Za-z0-9]{1,63}$"
_RELEASES = ["22.05", "23.11", "24.11", "25.11", "26.05"]

SlurmRelease = Annotated[
    Literal["22.05", "23.11", "24.11", "25.11", "26.05"],
    WithJsonSchema({"enum": [*_RELEASES, *map(float, _RELEASES)]}),
]
"""Quotes may be left out: the text counts, not the number that an editor sees."""
Setting = Annotated[StrictInt | str, WithJsonSchema({"type": ["string", "number"]})]


class Partition(Described):
    """A Slurm partition; its nodes are those of the pools that name it."""

    default: StrictBool = False
    """Whether jobs that name no partition go here; without any, the first one is the default."""
    max_time: Seconds | None = None
    """Longest wall time of a job; without it, no limit."""
    default_time: Seconds | None = None
    """Wall time of a job that asks for none."""
    priority: Annotated[StrictInt, Field(ge=0, le=65533)] = 1
    """PriorityTier: jobs of a higher tier are considered first."""
    exclusive: StrictBool = False
    """Whole nodes only."""


class Backup(Described):
    """What the controller alone has, saved elsewhere: jobs and node states, and the accounting database."""

    folder: Path
    """Where backups go, best within a share that another machine serves; each cluster has a folder there."""
    every: Annotated[Seconds, Field(ge=300)] = 6 * 3600
    """How often one is taken. What was submitted since the last one is lost with the controller."""
    keep: Annotated[StrictInt, Field(ge=1, le=10_000)] = 28
    """How many are kept; the oldest go first."""


class Scheduler(Described):
    """Slurm's settings. What the plan owns (nodes, names, paths) cannot be set here."""

    release: SlurmRelease | None = None
    """Slurm release; without it, the one that the distribution carries."""
    partitions: dict[Label, Partition] = {}
    """Settings of partitions; a partition that a pool names needs no entry here."""
    accounting: StrictBool = True
    """Keep an accounting database (slurmdbd and MariaDB on the controller)."""
    rest: StrictBool = False
    """Serve Slurm's REST API (slurmrestd with JWT) on the controller."""
    state: Path | None = None
    """Where slurmctld keeps its state, so that several controllers have it: within a share that another
    machine serves; each cluster has a folder there. Without it, it is on the controller's own disk."""
    backup: Backup | None = None
    """Backups of the controller's state; `clusterwright backup` takes, lists and restores them."""
    options: dict[Annotated[str, Field(pattern=OPTION)], Setting] = {}
    """Further lines of slurm.conf. Keys that the plan owns are refused."""
