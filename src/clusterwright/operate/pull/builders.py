"""Machines of a cloud that become images: they pull what is installed, seal themselves, and say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from clusterwright.bundle.recipes import recipes
from clusterwright.bundle.wanted import Wanted
from clusterwright.event import Report
from clusterwright.handoff import Handoff
from clusterwright.operate.baked import baked
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.keys import no_keys
from clusterwright.operate.pull.converge import Pulling
from clusterwright.operate.pull.settle import Far, Settled, refuse_another_signer
from clusterwright.operate.pull.wheels import lock
from clusterwright.render import render


@dataclass(frozen=True)
class Builders(Desired):
    """What the builders of a cluster's images should be. No key of the cluster is among it."""

    cluster: Handoff

    @cached_property
    def keys(self) -> Mapping[str, bytes]:
        return {}

    @cached_property
    def wanted(self) -> Mapping[str, Wanted]:
        """By builder. Its name is of the digest, which needs no vendor's key; what it becomes has them."""
        named = baked(self.cluster, self.files, self.folder)
        whole = recipes(self.cluster, self.files, no_keys(self.cluster), self.attachments, lock())
        pairs = zip(named, whole, strict=True)
        return {one.recipe.builder: Wanted(one.recipe.builder, other.kind) for one, other in pairs}


def builders_of(cluster: Handoff, folder: Path) -> Builders:
    """Machines without a role, so that nothing is started on them."""
    files = render(cluster)
    nodes = tuple(
        replace(
            cluster.by_name[one.recipe.nodes[0]], name=one.recipe.builder, pool=one.recipe.builder, roles=()
        )
        for one in baked(cluster, files, folder)
    )
    name = f"image-{cluster.name}"
    handoff = replace(cluster, cluster={**cluster.cluster, "name": name}, nodes=nodes)
    return Builders(ClusterHome.of(name), handoff, files, folder, cluster)


def settle_builders(far: Far, cluster: Handoff, folder: Path, report: Report) -> Settled:
    """Publish what the builders install, and wait until each is sealed. Raises Refused before anything is."""
    desired = builders_of(cluster, folder)
    with desired.home.locked():
        refuse_another_signer(desired.home, far.signer)
        keys = far.introduction.host_keys(far.machines, far.host_keys, report)
        pulling = Pulling(far.store, desired, keys, {}, report, lambda: None, far.silence)
        return Settled(pulling.run(sorted(keys), {}, {}, full=False), keys)
