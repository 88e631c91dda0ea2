"""The network that jobs talk over."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from clusterwright.spec.base import Described
from clusterwright.spec.floor import Plugs
from clusterwright.spec.name import NodeSet
from clusterwright.spec.quantity import Watts

MODEL = r"^[a-z0-9][a-z0-9-]{0,62}$"
DEVICE = r"^[a-z][a-z0-9_]{0,14}$"
Model = Annotated[str, Field(pattern=MODEL)]
"""A switch of the catalog, for instance `qm9700`."""


class SwitchRacks(Described):
    """Where switches stand: leaves first, then spines, then cores, from the lowest unit up."""

    names: NodeSet
    """Racks in their order, `net[1-2]` for instance."""
    per_rack: Annotated[StrictInt, Field(ge=1, le=60)]
    """Switches in one rack; the last rack may hold fewer."""
    first_unit: Annotated[StrictInt, Field(ge=1, le=60)] = 1
    """Lowest rack unit of the lowest one."""
    plugs: Plugs = []
    """The PDU of each power supply of a switch, `[a, b]`; without it, every PDU of the rack."""


class Switches(Described):
    """Switches of own machines' fabric, and how they are cabled: `clusterwright cabling` tells each cable."""

    model: Model
    """The leaf switch, and the ones above it unless they are named."""
    design: Literal["rail-optimized", "fat-tree"] = "rail-optimized"
    """`rail-optimized`: card 1 of every node on one leaf, card 2 on the next. `fat-tree`: all cards of a node
    on one leaf."""
    spine: Model | None = None
    """The switch above leaves."""
    core: Model | None = None
    """The switch above spines, where two levels do not reach."""
    oversubscription: Annotated[float, Field(ge=1, le=16)] = 1
    """Bandwidth of a leaf's nodes for each part of its uplinks; 1 is non-blocking."""
    sized_for: Annotated[StrictInt, Field(ge=1, le=65536)] | None = None
    """Nodes of each pool that ports are kept for, so that a pool can grow and no cable moves."""
    system: Annotated[str, Field(pattern=MODEL)] | None = None
    """The operating system of Ethernet switches, `cumulus` for instance: how it calls its ports, and what
    makes it lossless. Not needed where the catalog knows one for the model."""
    devices: Annotated[list[Annotated[str, Field(pattern=DEVICE)]], Field(max_length=64)] = []
    """What a node calls the fabric's cards, in the order of rails; without it, `mlx5_0`, `mlx5_1` … For
    Ethernet their network interfaces, `ens1np0` for instance, because LLDP tells those."""
    power: Watts | None = None
    """The most that one switch draws with its transceivers, where the catalog does not know it."""
    racks: SwitchRacks | None = None
    """Where the switches stand, for the cable list."""


class Fabric(Described):
    """How compute nodes hang together; becomes Slurm's topology."""

    topology: Literal["flat", "tree", "block"] = "flat"
    """Slurm's topology plugin: `tree` for leaf and spine switches, `block` for NVLink domains."""
    nodes_per_leaf: Annotated[StrictInt, Field(ge=1, le=1024)] | None = None
    """Nodes on one leaf switch (tree), or on the leaves of one scalable unit where each rail has its own."""
    block_size: Annotated[StrictInt, Field(ge=1, le=1024)] | None = None
    """Nodes in one block (block), 18 for NVL72."""
    switches: Switches | None = None
    """The switches themselves, for machines of your own."""
