"""Who may use the cluster, and how much of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from clusterwright.spec.base import Described
from clusterwright.spec.name import AccountName
from clusterwright.spec.quantity import Seconds


class User(Described):
    """A person's login on every node."""

    uid: Annotated[int, Field(ge=1000, le=60000)]
    """Numeric user and group ID, the same on every node."""
    keys: list[Annotated[str, Field(pattern=r"^(ssh-|ecdsa-|sk-)[^\n]+$", max_length=4096)]] = []
    """Public SSH keys."""
    account: AccountName = "default"
    """Default Slurm account."""
    admin: bool = False
    """May use sudo and administer Slurm."""


class Limits(Described):
    """The most that a team may use at one time."""

    gpus: Annotated[int, Field(ge=0)] | None = None
    """GPUs of all its running jobs together (GrpTRES=gres/gpu)."""
    nodes: Annotated[int, Field(ge=0)] | None = None
    """Nodes of all its running jobs together."""
    jobs: Annotated[int, Field(ge=0)] | None = None
    """Running jobs (GrpJobs)."""
    wall_time: Seconds | None = None
    """Longest wall time of one job (MaxWall)."""


class Account(Described):
    """A team in Slurm's accounting database."""

    description: str = ""
    """What the team is."""
    parent: AccountName | None = None
    """Account above this one; without it, `root`."""
    shares: Annotated[int, Field(ge=1, le=65535)] = 1
    """Fair-share weight beside its siblings."""
    limits: Limits = Limits()
    """What the team may use at one time."""
