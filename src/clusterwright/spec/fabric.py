"""The network that jobs talk over."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from clusterwright.spec.base import Described


class Fabric(Described):
    """How compute nodes hang together; becomes Slurm's topology."""

    topology: Literal["flat", "tree", "block"] = "flat"
    """Slurm's topology plugin: `tree` for leaf and spine switches, `block` for NVLink domains."""
    nodes_per_leaf: Annotated[StrictInt, Field(ge=1, le=1024)] | None = None
    """Nodes on one leaf switch (tree)."""
    block_size: Annotated[StrictInt, Field(ge=1, le=1024)] | None = None
    """Nodes in one block (block), 18 for NVL72."""
