"""Slurm, and how compute nodes hang together."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from clusterwright.handoff.sections.closed import Closed


class FabricSection(Closed):
    """How compute nodes hang together."""

    topology: Literal["flat", "tree", "block"]
    nodes_per_leaf: int | None
    block_size: int | None


class PartitionSection(Closed):
    """A Slurm partition. Times in seconds; none means no limit."""

    name: str
    nodes: str
    default: bool
    max_time: int | None
    default_time: int | None
    priority: int
    exclusive: bool


class LimitsSection(Closed):
    """The most that a team may use at one time. Wall time in seconds."""

    gpus: int | None
    nodes: int | None
    jobs: int | None
    wall_time: int | None


class AccountSection(Closed):
    """A team in the accounting database."""

    description: str
    parent: str | None
    shares: int
    limits: LimitsSection


class CgroupSection(Closed):
    """Slurm's CgroupPlugin and CgroupMountpoint."""

    plugin: str
    mountpoint: str | None


class InstanceSection(Closed):
    """A GPU instance: its MIG profile, and the memory slice at which it begins."""

    profile: str
    start: int


class BackupSection(Closed):
    """Where the controller saves its state, every how many seconds, and how many times it is kept."""

    folder: str
    every: int
    keep: int


class SchedulerSection(Closed):
    """Slurm. `config_overrides`: nodes have other hardware than they say.

    `mig`: by pool and minor of a GPU, the instances that it is cut into; whole GPUs are not in it.
    `shards`: by pool, the parts of each GPU that jobs may share; `mps`: the same, held to by NVIDIA's MPS.
    `state`: slurmctld's folder on a share; without it, it is on the controller's own disk.
    `ends`: by pool whose machines are taken away at a known time, when its last job must have ended, in UTC.
    """

    release: str
    partitions: dict[str, PartitionSection]
    accounts: dict[str, AccountSection]
    options: dict[str, str | int]
    accounting: bool
    rest: bool
    cgroup: CgroupSection
    config_overrides: bool
    mig: dict[str, dict[str, list[InstanceSection]]] = Field({})
    shards: dict[str, int] = Field({})
    mps: dict[str, int] = Field({})
    ends: dict[str, str] = Field({})
    state: str | None = None
    backup: BackupSection | None = None
