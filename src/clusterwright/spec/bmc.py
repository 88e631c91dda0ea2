"""How the BMCs of own machines are reached: the controllers that switch a machine and tell of its health."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictInt

from clusterwright.spec.base import Described
from clusterwright.spec.beside import BESIDE

Port = Annotated[StrictInt, Field(ge=1, le=65535)]
"""A TCP or UDP port."""


class Bmc(Described):
    """The BMCs of a site. Their addresses stand in the file of machines."""

    protocols: Annotated[list[Literal["redfish", "ipmi"]], Field(min_length=1)] = ["redfish", "ipmi"]
    """What they are asked by, in this order: a BMC without the first is asked by the second. IPMI shows a
    hash of the password to whoever asks for it."""
    authority: Annotated[str, Field(pattern=BESIDE)] | None = None
    """Certificates (PEM) beside the description that those of the BMCs lead to. Of a BMC that signed its own,
    `bmc_certificate` in the file of machines has the fingerprint."""
    redfish_port: Port = 443
    """TCP port of Redfish."""
    ipmi_port: Port = 623
    """UDP port of IPMI."""
    ipmi_cipher_suite: Literal[3, 17] | None = None
    """What IPMI is encrypted with: 17, or 3 where a BMC knows no SHA-256. Without it, BMCs are asked."""
    starts_per_feed: Annotated[StrictInt, Field(ge=1)] | None = None
    """Machines on one feed that may be switched on at the same time. For each PDU, `starts` says it."""
