"""Images in the cloud of a description: those that there are, and those that its software makes."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.finding import refuse
from clusterwright.operate.baked import baked
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.sdk import refuse_without_sdk
from clusterwright.operate.source import Source
from clusterwright.providers.built import Images
from clusterwright.spec.site import AwsSite, GcpSite


@dataclass(frozen=True)
class CloudImages:
    """One region or project, as a description sees it."""

    cluster: str
    stock: Images
    wanted: tuple[str, ...]
    """Digests of the images of the description's software."""


def cloud_images(source: Source) -> CloudImages | None:
    """None where images are made on this machine: of labs, and for network boot. Raises Refused."""
    description = described(source)
    prepared = prepare(description)
    where = description.loaded.where
    site = description.spec.site
    if not isinstance(site, AwsSite | GcpSite):
        if prepared.plan.images or {one.provider for one in prepared.plan.sites} == {"lab"}:
            return None
        what = "no cloud makes these machines, and none boots an image over the network"
        remedy = "Give the site `boot` and a pool `image: built`, or name a description of a cloud"
        raise refuse("CW7104", where("site"), what, remedy)
    refuse_without_sdk(site.provider, where("site"))
    images = baked(prepared.handoff, prepared.files, source.file.parent)
    return CloudImages(
        description.spec.cluster, _stock(site), tuple(sorted({one.recipe.digest for one in images}))
    )


def _stock(site: AwsSite | GcpSite) -> Images:
    """Each cloud's own tools take their time to import, and one is needed."""
    if isinstance(site, AwsSite):
        from clusterwright.providers.aws.stock import Stock as AmazonsStock

        return AmazonsStock(site.region)
    from clusterwright.providers.gcp.stock import Stock as GooglesStock

    return GooglesStock(site.project)
