"""A site's own needs: proxy, certificates, mirror, and steps of its own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from clusterwright.spec.base import Described
from clusterwright.spec.name import Label
from clusterwright.spec.pool import _as_list

Url = Annotated[str, Field(pattern=r"^https?://[^\s/@]+(/[^\s]*)?$")]
"""A URL without a user name or password: secrets never stand in a description."""


class Surroundings(Described):
    """What nodes need to live in a company's network."""

    http_proxy: Url | None = None
    """Proxy for http and https."""
    no_proxy: list[str] = []
    """Hosts and domains reached directly; the cluster's own are added."""
    certificate_authorities: list[str] = []
    """PEM files beside the description, trusted by every node."""
    package_mirror: Url | None = None
    """Replaces the distribution's own package servers."""
    time_servers: list[str] = []
    """NTP servers; without any, the distribution's own."""


class Hook(Described):
    """A step of the site's own at a named point of convergence."""

    at: Literal["before-configure", "after-configure", "before-accept"]
    """When it runs."""
    run: Annotated[str, Field(pattern=r"^[^/\s][^\s]*\.(yml|yaml|sh)$")]
    """A playbook or a shell script, by its path beside the description."""
    pools: Annotated[list[Label], BeforeValidator(_as_list)] = []
    """Pools it runs on; without any, all."""
