"""Who may open connections to the nodes of a site from outside."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from clusterwright.spec.base import Described, OneOrMany
from clusterwright.spec.name import Label
from clusterwright.spec.network import Network

PORTS = r"^[0-9]{1,5}(-[0-9]{1,5})?/(tcp|udp)$"


def _ports(text: str) -> str:
    numbers = [int(number) for number in text.partition("/")[0].split("-")]
    if not all(1 <= number <= 65535 for number in numbers) or numbers != sorted(numbers):
        context = {"problem": "is no port", "remedy": "Ports are 1 to 65535, the lower one first"}
        raise PydanticCustomError("ports", "{problem}", context)
    return text


Ports = Annotated[str, Field(pattern=PORTS), AfterValidator(_ports)]
"""A port, or a range of them, and its protocol: `8443/tcp`, `60000-61000/udp`."""
Networks = Annotated[list[Network], OneOrMany()]
"""IPv4 networks; one may be written without a list."""


class Firewall(Described):
    """What the nodes of a site let in, with nftables. Nodes of the cluster reach each other at every port,
    and what the plan needs is let in without a word here; everything else from outside is dropped."""

    operators_from: Networks = []
    """Networks of those who run clusterwright: SSH to every node."""
    people_from: Networks = []
    """Networks of users: SSH to login nodes, to the controllers where there is no login node, and slurmrestd
    where there is one."""
    monitoring_from: Networks = []
    """Networks of a monitoring system: the node exporter on every node, Prometheus and slurmctld's metrics on
    controllers, as far as they are there."""
    trusted: Networks = []
    """Further networks whose machines are let in at every port: servers of file systems, a fabric's cards,
    another cluster."""
    allow: dict[Label, dict[Ports, Networks]] = {}
    """What else the nodes of a pool let in: by pool, ports and the networks that reach them,
    `{login: {8443/tcp: 10.0.0.0/8}}` for instance."""
