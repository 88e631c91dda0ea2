"""Which images a description's machines are made from on a cloud, by digest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from clusterwright.bundle import generated
from clusterwright.bundle.recipes import Baked, recipes
from clusterwright.finding import Finding, Refused
from clusterwright.handoff import Handoff
from clusterwright.operate.keys import no_keys
from clusterwright.operate.netboot import files as boot_files
from clusterwright.operate.pull.wheels import lock
from clusterwright.plan.images import is_built, pinned
from clusterwright.plan.model import ClusterPlan, PlannedNode
from clusterwright.plan.software.asked import Place
from clusterwright.render import NodeFile


def baked(handoff: Handoff, files: tuple[NodeFile, ...], folder: Path) -> tuple[Baked, ...]:
    """What the images of these machines are made of; reads nothing but files beside the description."""
    beside = {path: _text(folder / path) for path in generated.attachments(handoff)}
    return recipes(handoff, files, no_keys(handoff), beside, lock())


def with_images(
    plan: ClusterPlan, handoff: Handoff, files: tuple[NodeFile, ...], folder: Path, where: Place
) -> ClusterPlan:
    """The plan with the digest of each node's image, where pools name built ones.

    Raises Refused where the software is not that of the image which a pool names."""
    made_there = all(site.provider in ("aws", "gcp") for site in plan.sites)
    booted = {node.name for node in booting(plan)}
    if not (made_there and any(is_built(pool) for pool in plan.spec.pools.values())) and not booted:
        return plan
    digests = {name: one.recipe.digest for one in baked(handoff, files, folder) for name in one.recipe.nodes}
    if booted:
        digests = {name: over_network(digest) for name, digest in digests.items() if name in booted}
    if found := list(_disagreeing(plan, digests, where)):
        raise Refused(found)
    return replace(plan, images=digests)


def booting(plan: ClusterPlan) -> list[PlannedNode]:
    """Nodes of own machines that run a built image from memory."""
    sites = {site.name for site in plan.sites if site.provider == "onprem"}
    return [node for node in plan.nodes if node.site in sites and is_built(plan.spec.pools[node.pool])]


def over_network(digest: str) -> str:
    """The image of this software that boots over the network: also of what makes it boot."""
    return hashlib.sha256(f"{digest} {boot_files.digest()}".encode()).hexdigest()[:16]


def _disagreeing(plan: ClusterPlan, digests: dict[str, str], where: Place) -> Iterator[Finding]:
    for name, pool in plan.spec.pools.items():
        made = {digests[node.name] for node in plan.nodes if node.pool == name and node.name in digests}
        if (named := pinned(pool)) and made and made != {named}:
            what = f"the image {named} is not of this software, whose image is {', '.join(sorted(made))}"
            remedy = "Run `clusterwright image build` and name the new one, or undo the change"
            yield Finding("CW8090", where(f"pools.{name}.image"), what, remedy)


def _text(file: Path) -> str:
    """Of what cannot be read `up` says so; a digest of nothing names no image that was built."""
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
