"""Who may use the cluster, and how much of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool, StrictInt

from clusterwright.spec.base import Described
from clusterwright.spec.name import AccountName
from clusterwright.spec.quantity import Seconds

PUBLIC_KEY = r"^(ssh-|ecdsa-|sk-)[a-z0-9@.-]+ [A-Za-z0-9+/]+=*( .*)?$"


class User(Described):
    """A person's login on every node."""

    uid: Annotated[StrictInt, Field(ge=1000, le=60000)] | None = None
    """Numeric user and group ID, the same on every node; without it, `surroundings.directory` has them."""
    keys: list[Annotated[str, Field(pattern=PUBLIC_KEY, max_length=4096)]] = []
    """Public SSH keys."""
    account: AccountName = "default"
    """Default Slurm account."""
    admin: StrictBool = False
    """May use sudo and administer Slurm."""


class Limits(Described):
    """The most that a team may use at one time."""

    gpus: Annotated[StrictInt, Field(ge=0)] | None = None
    """GPUs of all its running jobs together (GrpTRES=gres/gpu)."""
    nodes: Annotated[StrictInt, Field(ge=0)] | None = None
    """Nodes of all its running jobs together."""
    jobs: Annotated[StrictInt, Field(ge=0)] | None = None
    """Running jobs (GrpJobs)."""
    wall_time: Seconds | None = None
    """Longest wall time of one job (MaxWall)."""


class Account(Described):
    """A team in Slurm's accounting database."""

    description: str = ""
    """What the team is."""
    parent: AccountName | None = None
    """Account above this one; without it, `root`."""
    shares: Annotated[StrictInt, Field(ge=1, le=65535)] = 1
    """Fair-share weight beside its siblings."""
    limits: Limits = Limits()
    """What the team may use at one time."""
