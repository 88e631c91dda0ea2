"""How own machines boot over their network: who gives addresses, and what a machine is told to start."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from clusterwright.spec.base import Described
from clusterwright.spec.bmc import Port

ADDRESS = r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$"
ARGUMENT = r"^[A-Za-z0-9][A-Za-z0-9._,=:/@+-]{0,200}$"
RANGE = r"^[0-9.]{7,15}-[0-9.]{7,15}$"


def _address(text: str) -> str:
    from ipaddress import AddressValueError, IPv4Address

    try:
        return str(IPv4Address(text))
    except AddressValueError as error:
        context = {"problem": "is no IPv4 address", "remedy": "Write it as 10.70.0.1"}
        raise PydanticCustomError("address", "{problem}", context) from error


def _range(text: str) -> str:
    from ipaddress import IPv4Address

    first, last = map(_address, text.split("-"))
    if IPv4Address(first) > IPv4Address(last):
        context = {"problem": "ends before it begins", "remedy": "Write the lower address first"}
        raise PydanticCustomError("range", "{problem}", context)
    return f"{first}-{last}"


Address = Annotated[str, Field(pattern=ADDRESS), AfterValidator(_address)]
"""An IPv4 address."""


class Boot(Described):
    """Network boot of a site, served by the controller in the network of the nodes."""

    dhcp_server: Address | None = None
    """The DHCP server that the network has already. It goes on giving addresses, those of the plan, and the
    controller only tells known machines what to start (proxy DHCP). Without it, the controller is the
    network's DHCP server, and no other may be there."""
    unknown: Annotated[str, Field(pattern=RANGE), AfterValidator(_range)] | None = None
    """Addresses that are lent to machines which nobody described, `10.70.0.240-10.70.0.250` for instance, so
    that they can say on their screen that nobody knows them. Without it they get none."""
    gateway: Address | None = None
    """The nodes' way out of their network; without it they are told none."""
    name_servers: list[Address] = []
    """DNS servers that nodes are told."""
    http_port: Port = 8008
    """TCP port that the controller serves kernels and images at."""
    arguments: list[Annotated[str, Field(pattern=ARGUMENT)]] = []
    """Arguments for the kernel of machines that run an image, `console=ttyS1,115200n8` for instance."""
