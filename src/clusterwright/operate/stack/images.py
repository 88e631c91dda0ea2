"""Images of a description's software in its cloud, built by machines that come and go in their own stack."""

from __future__ import annotations

from functools import partial

from clusterwright.bundle.recipes import Baked
from clusterwright.event import Event, Report
from clusterwright.finding import Refused
from clusterwright.operate.baked import baked
from clusterwright.operate.built import CloudImages
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.source import Source
from clusterwright.operate.stack.failures import findings_of, refused
from clusterwright.operate.stack.folder import StackFolder
from clusterwright.operate.stack.follow import Follow
from clusterwright.operate.stack.locks import unlocked
from clusterwright.providers.engine.executable import lacks


def build(source: Source, cloud: CloudImages, report: Report) -> tuple[str, ...]:
    """Digests of what was made; none where all are there. Killed anywhere, run again it goes on.

    A builder that failed stays, to be looked at, until the next build or a `destroy` of `image-NAME`."""
    there = {image.digest for image in cloud.stock.known()}
    missing = tuple(digest for digest in cloud.wanted if digest not in there)
    if missing:
        _build(source, report)
    return missing


def _build(source: Source, report: Report) -> None:
    from clusterwright.operate.stack.program import declare_cluster
    from clusterwright.providers.engine.stack import Failed

    description = described(source)
    prepared = prepare(description)
    provider = prepared.plan.sites[0].provider
    if lacking := list(lacks(provider, description.loaded.where("site"))):
        raise Refused(lacking)
    recipes = baked(prepared.handoff, prepared.files, source.file.parent)
    home = ClusterHome.of(f"image-{description.spec.cluster}")
    with home.locked("stack"):
        stack = StackFolder(home).stack(report)
        stack.configure(_config(source, home))
        with refused(home.name):
            stack.open()
        report(Event("image", "started", f"builders of {len(recipes)} images"))
        follow = Follow(home.name, _names(recipes), report)
        program = partial(declare_cluster, source.file, image=True)
        try:
            unlocked(stack, lambda: stack.up(program, follow))
            report(Event("image", "ok", "made; the builders go"))
            unlocked(stack, lambda: stack.destroy(follow))
        except Failed as failed:
            raise Refused(findings_of(failed, home.name)) from failed


def _names(recipes: tuple[Baked, ...]) -> list[str]:
    return [one.recipe.builder for one in recipes]


def _config(source: Source, home: ClusterHome) -> dict[str, str]:
    return {
        "cluster": str(source.file.resolve()),
        "signer": Signing.of(home).public,
        "accept": "true",
        "image": "true",
    }
