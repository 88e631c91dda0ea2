"""How a site in a cloud is joined to the other sites of its cluster."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from clusterwright.spec.base import Described
from clusterwright.spec.firewall import Networks
from clusterwright.spec.quantity import Throughput

GATEWAY = r"^(tgw|vgw)-[0-9a-f]{8,17}$"


class Link(Described):
    """The way between this site's network and those of the other sites. It exists already: whoever runs the
    networks made it, and has told it of this one."""

    gateway: Annotated[str, Field(pattern=GATEWAY)] | None = None
    """ID of the transit gateway (`tgw-…`) or virtual private gateway (`vgw-…`) on AWS's side: the network
    that is made here is attached to it. Left out with `vpc`, whose routes are there."""
    operators_from: Networks = []
    """Networks of those who run clusterwright, where they are not a site's own: SSH to every node."""
    reaches: Networks = []
    """Further networks behind it that nodes ask: file servers, package mirrors, time servers."""
    bandwidth: Throughput | None = None
    """What it carries, `1.25 GB/s` for 10 Gbit/s: what is said of data that would go over it."""
