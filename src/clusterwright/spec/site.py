"""Where machines are, and who makes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from clusterwright.spec.base import Described


class _Site(Described):
    network: str | None = None
    """Private network of the nodes in CIDR form, for instance `10.40.0.0/16`. The lab picks a free one."""


class LabSite(_Site):
    """Simulated machines: systemd nodes on this Linux host."""

    provider: Literal["lab"]


class AwsSite(_Site):
    """Amazon Web Services."""

    provider: Literal["aws"]
    region: str
    """Region, for instance `us-east-2`."""
    zone: str
    """Availability zone of the compute nodes: a fabric never crosses zones."""


class GcpSite(_Site):
    """Google Cloud."""

    provider: Literal["gcp"]
    project: str
    """Project ID."""
    region: str
    """Region, for instance `us-central1`."""
    zone: str
    """Zone of the compute nodes."""


class OnpremSite(_Site):
    """Machines that exist already and are described here."""

    provider: Literal["onprem"]


Site = Annotated[LabSite | AwsSite | GcpSite | OnpremSite, Field(discriminator="provider")]
"""One member per provider; the union is the registry."""
