"""A pool: machines that are alike."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from clusterwright.spec.base import Described, OneOrMany
from clusterwright.spec.capacity import Capacity
from clusterwright.spec.floor import Plugs
from clusterwright.spec.mig import Mig
from clusterwright.spec.name import Label, NodeSet
from clusterwright.spec.quantity import Bytes, Watts
from clusterwright.spec.software import Versions
from clusterwright.spec.treatment import AnsibleRole, Treatment

MACHINE = r"^[a-z0-9][a-z0-9._-]{0,62}$"
SNAPSHOT = r"^[a-z][A-Za-z0-9/-]{0,254}$"
IMAGE = r"^[a-z][A-Za-z0-9._/:-]{0,254}$"
BUILT = "built"
"""In place of an image's name: what `clusterwright image build` makes. `built:` and a digest is that one."""
DISK = r"^/dev/disk/by-[a-z]{2,16}/[A-Za-z0-9:._+@-]{1,128}$"
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
    names: NodeSet | None = None
    """Racks in their order, `a[01-08]` for instance; without it, `<pool>-rack-01` …"""
    first_unit: Annotated[StrictInt, Field(ge=1, le=60)] | None = None
    """Lowest rack unit of a rack's first node; the others stand above it."""
    units: Annotated[StrictInt, Field(ge=1, le=60)] | None = None
    """Rack units that one node takes, 8 for a DGX H100."""
    power: Watts | None = None
    """The most that one node draws, where the catalog does not know it or the site measured it."""
    plugs: Plugs = []
    """The PDU of each power supply of a node, `[a, b]`; without it, every PDU of the rack."""


class Purchase(Described):
    """What machines of one's own cost, for what an hour of a GPU costs."""

    price: Annotated[float, Field(gt=0, le=100_000_000)]
    """US dollars for one machine, with its part of switches, cables and racks if those are to count."""
    years: Annotated[float, Field(gt=0, le=20)]
    """Years that it is used."""


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
    ansible_roles: dict[AnsibleRole, Treatment] = {}
    """What the site keeps itself on these machines, by Ansible role: `observe` looks and says what differs,
    `skip` does not even look. Without it, `manage`: it is installed and repaired."""
    capacity: Capacity | None = None
    """How a cloud is asked for these machines; without it, on demand."""
    image: Annotated[str, Field(pattern=IMAGE)] | None = None
    """Image that a cloud makes these machines from: `ami-…` on AWS, a name or family on Google Cloud; `built`
    for the one that `clusterwright image build` made of this software, `built:DIGEST` for that one and no
    other. Without it, the distribution's own. Own machines that boot over the network run `built` from their
    memory, or what is in a folder of this name on the controller; without it, they start from their disk."""
    install_to: Annotated[str, Field(pattern=DISK)] | None = None
    """Disk of own machines that the image is written to, once, by a name that stays:
    `/dev/disk/by-path/pci-0000:01:00.0-nvme-1` for instance. They start from it from then on. Without it they
    run the image from their memory."""
    disk: Bytes | None = None
    """Size of the disk that these machines of a cloud boot from; without it, 100 GiB, 200 GiB with GPUs."""
    kept_from: Annotated[str, Field(pattern=SNAPSHOT)] | None = None
    """Snapshot that the kept volume of this one node is made from, when it is made: `snap-…` on AWS,
    `projects/…/global/snapshots/NAME` on Google Cloud. A volume that is there is left as it is."""
    placement: Literal["cluster", "partition", "spread", "none"] | None = None
    """How AWS sets these machines up to each other: `cluster`, as close as it can; `partition`, in groups
    that share no rack; `spread`, each on a rack of its own. Without it, `cluster` where there is a fabric and
    nothing is reserved."""
    max_distance: Annotated[StrictInt, Field(ge=1, le=3)] | None = None
    """How far these machines of Google Cloud may stand from each other: 1 is the closest. Where they do not
    fit they are not made. Without it they stand as close as there is room."""
    group: StrictBool = False
    """One group of a cloud in place of a resource for each machine: for hundreds of compute nodes. Names are
    planned, and so are addresses on Google Cloud; on AWS they are AWS's to give. To change it makes every
    machine anew."""
    mig: Mig | None = None
    """How the GPUs are cut into instances (MIG); without it, jobs get whole GPUs."""
    shards: Annotated[StrictInt, Field(ge=2, le=64)] | None = None
    """Parts of each GPU that jobs can ask for with `--gres=shard:1`. They are only counted: nothing keeps
    jobs on one GPU from each other's memory. Without it, a GPU has one job at a time."""
    mps: Annotated[StrictInt, Field(ge=2, le=100)] | None = None
    """Parts of each GPU that jobs can ask for and that NVIDIA's MPS holds them to: with 100, `--gres=mps:50`
    gives a job half of a GPU's processors. MPS is started and ended with the jobs. Without it, a GPU has one
    job at a time."""
    racks: Racks | None = None
    """Rack layout, where racks matter: power and the switch that a node hangs on."""
    purchase: Purchase | None = None
    """Price and years of use, for machines of one's own."""
