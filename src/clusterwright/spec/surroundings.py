"""A site's own needs: proxy, certificates, mirror, directory, and steps of its own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterwright.spec.base import Described, OneOrMany
from clusterwright.spec.beside import Beside
from clusterwright.spec.directory import Directory
from clusterwright.spec.name import Label

URL = r"^https?://[^\s/@]+(/[^\s]*)?$"
HOST = r"^[A-Za-z0-9.*:/_-]{1,253}$"
STEP = r"^[^/\s-][^\s]*\.(yml|yaml|sh)$"

Url = Annotated[str, Field(pattern=URL)]
"""A URL without a user name or password: secrets never stand in a description."""
Host = Annotated[str, Field(pattern=HOST)]
"""A host, a domain, an address or a network."""


class Surroundings(Described):
    """What nodes need to live in a company's network."""

    http_proxy: Url | None = None
    """Proxy for http and https."""
    no_proxy: list[Host] = []
    """Hosts and domains reached directly; the cluster's own are added."""
    certificate_authorities: list[Beside] = []
    """PEM files beside the description, trusted by every node."""
    package_mirror: Url | None = None
    """Replaces the distribution's own package servers."""
    security_mirror: Url | None = None
    """Replaces its server of security updates, where `package_mirror` replaces the others."""
    time_servers: list[Host] = []
    """NTP servers; without any, the distribution's own."""
    directory: Directory | None = None
    """Has the people whom `users` does not number."""


class Hook(Described):
    """A step of the site's own at a named point of convergence."""

    at: Literal["before-configure", "after-configure", "before-accept"]
    """When it runs."""
    run: Annotated[str, Field(pattern=STEP)]
    """A playbook or a shell script, by its path beside the description."""
    pools: Annotated[list[Label], OneOrMany()] = []
    """Pools it runs on; without any, all."""
