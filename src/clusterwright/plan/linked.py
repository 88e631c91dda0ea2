"""A cluster of own machines and a site in a cloud: which one that is."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.link import Link
from clusterwright.spec.site import AwsSite, OnpremSite


@dataclass(frozen=True, slots=True)
class Linked:
    """The site whose machines a cloud makes beside own ones."""

    spec: ClusterSpec
    name: str
    site: AwsSite
    link: Link

    @property
    def provider(self) -> str:
        return self.site.provider


def linked(spec: ClusterSpec) -> Linked | None:
    """None where all sites are alike, and for mixtures that nothing joins."""
    clouds = [(name, site) for name, site in spec.sites.items() if not isinstance(site, OnpremSite)]
    if len(clouds) != 1 or len(spec.sites) == 1:
        return None
    ((name, site),) = clouds
    return Linked(spec, name, site, site.link) if isinstance(site, AwsSite) and site.link else None
