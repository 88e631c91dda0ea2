"""Where nodes are, and machines of one's own."""

from __future__ import annotations

from pydantic import Field

from clusterwright.handoff.sections.closed import Closed


class BootSection(Closed):
    """How machines boot over the network. `dhcp_server`: one that is there already. `images`: by pool, those
    that clusterwright builds as `built:DIGEST`. `disks`: by pool, where the image is written to one."""

    dhcp_server: str | None
    unknown: str | None
    gateway: str | None
    name_servers: list[str]
    http_port: int
    arguments: list[str]
    images: dict[str, str]
    disks: dict[str, str] = Field(default_factory=dict)


class FirewallSection(Closed):
    """Networks that may open connections from outside. `allow`: by pool and port."""

    operators_from: list[str]
    people_from: list[str]
    monitoring_from: list[str]
    trusted: list[str]
    allow: dict[str, dict[str, list[str]]]


class SiteSection(Closed):
    """Where nodes are. `simulated`: they only play their machine type."""

    provider: str
    network: str
    place: str
    simulated: bool
    boot: BootSection | None = None
    firewall: FirewallSection | None = None


class BmcSection(Closed):
    """The management controller of a machine. `credentials` say where user and password are, never what."""

    address: str | None
    mac: str | None
    credentials: str | None
    certificate: str | None = None
    """SHA-256 of the one that it shows."""


class MachineSection(Closed):
    """What tells a machine of one's own from its sisters. `mac` is of the card that it boots from."""

    mac: str | None
    serial: str | None
    bmc: BmcSection | None
