"""Where machines are, and who makes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool
from pydantic_core import PydanticCustomError

from clusterwright.spec.base import Described

PLACE = r"^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
GOOGLE_NAME = r"^(projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/[a-z0-9/-]{1,120}/)?[a-z]([a-z0-9-]{0,61}[a-z0-9])?$"
GOOGLE_LABEL = r"^[a-z][a-z0-9_-]{0,62}$"
GOOGLE_LABEL_VALUE = r"^[a-z0-9_-]{0,63}$"


def _network(text: str) -> str:
    from ipaddress import IPv4Network

    try:
        return str(IPv4Network(text))
    except ValueError as error:
        remedy = "Write the first address and the prefix length, for instance `10.40.0.0/16`"
        problem = "has host bits set" if "host bits" in str(error) else "is no IPv4 network"
        context = {"problem": problem, "remedy": remedy}
        raise PydanticCustomError("network", "{problem}", context) from error


Network = Annotated[
    str,
    Field(max_length=18, examples=["10.40.0.0/16"], json_schema_extra={"x-kind": "IPv4 network"}),
    AfterValidator(_network),
]
"""An IPv4 network in CIDR form, without host bits."""
Place = Annotated[str, Field(pattern=PLACE)]
"""A region, zone or project as its cloud spells it."""
GoogleName = Annotated[str, Field(pattern=GOOGLE_NAME, max_length=220)]
"""A resource of Google Cloud: its name, or its path that begins with `projects/`."""


class _Site(Described):
    network: Network | None = None
    """Private network of the nodes in CIDR form, for instance `10.40.0.0/16`.

    Left out, the lab picks a free one, and other sites take 10.66.0.0/16, 10.67.0.0/16 and so on."""


class LabSite(_Site):
    """Simulated machines: systemd nodes on this Linux host."""

    provider: Literal["lab"]
    """The lab."""


class AwsSite(_Site):
    """Amazon Web Services."""

    provider: Literal["aws"]
    """AWS."""
    region: Place
    """Region, for instance `us-east-2`."""
    zone: Place
    """Availability zone of the compute nodes: a fabric never crosses zones."""


class GcpVpc(Described):
    """A network on Google Cloud that exists already. Then `network` is the range of its subnet."""

    name: GoogleName
    """VPC network, `projects/…` where it is shared by another project."""
    subnet: GoogleName
    """Subnet in the region, with Private Google Access and a way out to package repositories."""


class GcpSite(_Site):
    """Google Cloud."""

    provider: Literal["gcp"]
    """Google Cloud."""
    project: Place
    """Project ID."""
    region: Place
    """Region, for instance `us-central1`."""
    zone: Place
    """Zone of the compute nodes."""
    fabric_network: Network | None = None
    """What the subnets of further network cards are cut from, `10.130.0.0/16` for instance: 32 equal parts,
    one for each card. Left out, 10.130.0.0/16, 10.131.0.0/16 and so on."""
    vpc: GcpVpc | None = None
    """Network that exists already, for the first card of every node; without it, one is made. Networks of
    further cards are always made."""
    ssh_from: list[Network] = []
    """Networks that may log in at a public address of the login nodes. Without any, people come in through
    Identity-Aware Proxy, and no node has a public address."""
    os_login: StrictBool = True
    """Whether project members may log in through OS Login, to look at a node that did not come up."""
    labels: dict[
        Annotated[str, Field(pattern=GOOGLE_LABEL)], Annotated[str, Field(pattern=GOOGLE_LABEL_VALUE)]
    ] = {}
    """Labels for every resource, beside those that say which cluster, pool and node it is."""


class OnpremSite(_Site):
    """Machines that exist already and are described here."""

    provider: Literal["onprem"]
    """Machines of your own."""


Site = Annotated[LabSite | AwsSite | GcpSite | OnpremSite, Field(discriminator="provider")]
"""One member per provider; the union is the registry."""
