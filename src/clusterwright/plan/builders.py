"""What images are built of: a recipe for each, and the machines that become them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clusterwright.catalog.builders import builder
from clusterwright.plan.build import plan as planned
from clusterwright.plan.model import ClusterPlan
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.pool import Pool, Role

_DISK_GIB = 50
"""A machine made from an image has a disk that is as large, or larger."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What goes into one image, and what its digest names."""

    digest: str
    architecture: str
    nodes: tuple[str, ...]
    """Nodes that are made from it."""

    @property
    def builder(self) -> str:
        """The machine that becomes it."""
        return f"builder-{self.digest}"


def builders(of: ClusterPlan, recipes: tuple[Recipe, ...]) -> ClusterPlan:
    """The machines that images of a cluster's nodes are made of, as a cluster of their own."""
    pools = {recipe.builder: _pool(of, recipe) for recipe in recipes}
    return planned(of.spec.model_copy(update={**_alone(of.spec), "pools": pools}), lock=of.lock)


def _alone(spec: ClusterSpec) -> Mapping[str, object]:
    """Nothing of the cluster but its site: no way in from outside, no shares, no jobs."""
    site = spec.site.model_copy(update={"ssh_from": [], "budget": None}) if spec.site else None
    return {
        "cluster": f"image-{spec.cluster}",
        "site": site,
        "storage": spec.storage.model_copy(update={"shares": {}}),
        "scheduler": spec.scheduler.model_copy(update={"partitions": {}}),
        "users": {},
    }


def _pool(of: ClusterPlan, recipe: Recipe) -> Pool:
    like = next(node for node in of.nodes if node.name == recipe.nodes[0])
    base = builder(of.hardware[like.machine].provider, recipe.architecture)
    own = of.spec.pools[like.pool]
    return Pool(
        roles=[Role.LOGIN],
        machine=base or like.machine,
        capacity=None if base else own.capacity,
        placement="none",
        disk=f"{_DISK_GIB} GiB",
    )
