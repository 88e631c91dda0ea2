"""Which images a description's machines are made from on a cloud, by digest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from clusterwright.bundle import generated
from clusterwright.bundle.recipes import Baked, recipes
from clusterwright.finding import Finding, Refused
from clusterwright.handoff import Handoff
from clusterwright.operate.keys import no_keys
from clusterwright.operate.pull.wheels import lock
from clusterwright.plan.images import is_built, pinned
from clusterwright.plan.model import ClusterPlan
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
    if not made_there or not any(is_built(pool) for pool in plan.spec.pools.values()):
        return plan
    digests = {name: one.recipe.digest for one in baked(handoff, files, folder) for name in one.recipe.nodes}
    if found := list(_disagreeing(plan, digests, where)):
        raise Refused(found)
    return replace(plan, images=digests)


def _disagreeing(plan: ClusterPlan, digests: dict[str, str], where: Place) -> Iterator[Finding]:
    for name, pool in plan.spec.pools.items():
        made = {digests[node.name] for node in plan.nodes if node.pool == name}
        if (named := pinned(pool)) and made != {named}:
            what = f"the image {named} is not of this software, whose image is {', '.join(sorted(made))}"
            remedy = "Run `clusterwright image build` and name the new one, or undo the change"
            yield Finding("CW8090", where(f"pools.{name}.image"), what, remedy)


def _text(file: Path) -> str:
    """Of what cannot be read `up` says so; a digest of nothing names no image that was built."""
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
