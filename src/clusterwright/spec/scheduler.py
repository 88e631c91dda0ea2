"""Slurm: what users may decide about it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterwright.spec.base import Described
from clusterwright.spec.name import Label
from clusterwright.spec.quantity import Seconds

SlurmRelease = Literal["22.05", "23.11", "24.11", "25.11", "26.05"]


class Partition(Described):
    """A Slurm partition; its nodes are those of the pools that name it."""

    default: bool = False
    """Whether jobs that name no partition go here; without any, the first one is the default."""
    max_time: Seconds | None = None
    """Longest wall time of a job; without it, no limit."""
    default_time: Seconds | None = None
    """Wall time of a job that asks for none."""
    priority: Annotated[int, Field(ge=0, le=65533)] = 1
    """PriorityTier: jobs of a higher tier are considered first."""
    exclusive: bool = False
    """Whole nodes only."""


class Scheduler(Described):
    """Slurm's settings. What the plan owns (nodes, names, paths) cannot be set here."""

    release: SlurmRelease | None = None
    """Slurm release; without it, the one that the distribution carries."""
    partitions: dict[Label, Partition] = {}
    """Settings of partitions; a partition that a pool names needs no entry here."""
    accounting: bool = True
    """Keep an accounting database (slurmdbd and MariaDB on the controller)."""
    rest: bool = False
    """Serve Slurm's REST API (slurmrestd with JWT) on the controller."""
    options: dict[str, str | int] = {}
    """Further lines of slurm.conf. Keys that the plan owns are refused."""
