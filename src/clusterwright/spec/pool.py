"""A pool: machines that are alike."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StrictInt

from clusterwright.spec.base import Described, OneOrMany
from clusterwright.spec.capacity import Capacity
from clusterwright.spec.mig import Mig
from clusterwright.spec.name import Label, NodeSet
from clusterwright.spec.quantity import Bytes, Watts
from clusterwright.spec.software import Versions

MACHINE = r"^[a-z0-9][a-z0-9._-]{0,62}$"
IMAGE = r"^[a-z][A-Za-z0-9._/:-]{0,254}$"
FEATURE = r"^[A-Za-z][A-Za-z0-9_.-]{0,62}$"


class Role(StrEnum):
    """What a node does; one node may do several things."""

    CONTROLLER = "controller"
    LOGIN = "login"
    COMPUTE = "compute"
    STORAGE = "storage"


class Racks(Described):
    """How a pool's nodes are spread over racks, in the order of their names."""

    nodes_per_rack: Annotated[StrictInt, Field(ge=1, le=128)]
    """Nodes in one rack; the last rack may hold fewer."""
    power_limit: Watts | None = None
    """What one rack can feed and cool."""


class Pool(Described):
    """Machines of one type with the same roles, named `<pool>-001` … or as listed in `nodes`."""

    roles: Annotated[list[Role], Field(min_length=1), OneOrMany()]
    """One role or several: `controller`, `login`, `compute`, `storage`."""
    machine: Annotated[str, Field(pattern=MACHINE)]
    """Machine type of the catalog, for instance `lab-h100` or `p5.48xlarge`."""
    count: Annotated[StrictInt, Field(ge=1, le=65536)] | None = None
    """How many nodes. Give this or `nodes`; without both the pool has one node."""
    nodes: NodeSet | None = None
    """Node names in Slurm's syntax, for instance `gpu[001-004]`."""
    site: Label | None = None
    """Site of this pool, when the cluster has more than one."""
    features: list[Annotated[str, Field(pattern=FEATURE)]] = []
    """Slurm features that a job can ask for with `--constraint`."""
    partitions: Annotated[list[Label], OneOrMany()] = []
    """Partitions of the pool's compute nodes; without any, one partition named as the pool."""
    versions: Versions = {}
    """As `software.versions`, for this pool; instead of it where pools may differ, as in their driver."""
    capacity: Capacity | None = None
    """How a cloud is asked for these machines; without it, on demand."""
    image: Annotated[str, Field(pattern=IMAGE)] | None = None
    """Image that a cloud makes these machines from: `ami-…` on AWS, a name or family on Google Cloud. Without
    it, the distribution's own."""
    disk: Bytes | None = None
    """Size of the disk that these machines of a cloud boot from; without it, 100 GiB, 200 GiB with GPUs."""
    placement: Literal["cluster", "partition", "spread", "none"] | None = None
    """How AWS sets these machines up to each other: `cluster`, as close as it can; `partition`, in groups
    that share no rack; `spread`, each on a rack of its own. Without it, `cluster` where there is a fabric and
    nothing is reserved."""
    mig: Mig | None = None
    """How the GPUs are cut into instances (MIG); without it, jobs get whole GPUs."""
    racks: Racks | None = None
    """Rack layout, where racks matter: power and the switch that a node hangs on."""
