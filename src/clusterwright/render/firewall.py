"""The firewall of own machines: what the nodes of a pool let in, as one table of nftables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, collapse_addresses
from typing import Any

from clusterwright.handoff import Handoff, Node
from clusterwright.render.file import NodeFile
from clusterwright.render.hosts import EVERY_ROLE
from clusterwright.render.monitoring import (
    DCGM_EXPORTER_PORT,
    NODE_EXPORTER_PORT,
    PROMETHEUS_PORT,
    exports_dcgm,
)
from clusterwright.render.node import SLURMCTLD_PORT
from clusterwright.render.release import SlurmRelease
from clusterwright.render.templates import fill

FOLDER = "/etc/clusterwright/firewall"
"""On a node it has one file: that of the node's pool."""
_ROLE = "firewall"
_SSH = 22
_SLURMRESTD = 6820
_DHCP = 67
"""Who asks for an address has none: RFC 2131, 4.1."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """Ports that networks reach: no networks are every sender, no ports are everything."""

    of: str
    networks: tuple[str, ...]
    protocol: str = "tcp"
    ports: tuple[str, ...] = ()


def files(handoff: Handoff, release: SlurmRelease) -> Iterator[NodeFile]:
    """A file for each pool whose site has a firewall that it does not keep itself."""
    kept = handoff.software.get("treatments", {})
    first: dict[str, Node] = {}
    for node in handoff.nodes:
        first.setdefault(node.pool, node)
    for pool, node in sorted(first.items()):
        described = handoff.site[node.site].get("firewall")
        if described and _ROLE not in kept.get(pool, {}):
            rules = [rule for rule in _rules(handoff, release, node, described) if rule]
            text = fill("firewall/pool.nft.j2", cluster=handoff.name, pool=pool, rules=rules)
            yield NodeFile(f"{FOLDER}/{pool}.nft", text, EVERY_ROLE, mode=0o600, pools=(pool,))


def _rules(
    handoff: Handoff, release: SlurmRelease, node: Node, described: Mapping[str, Any]
) -> Iterator[_Rule | None]:
    own = [str(site["network"]) for site in handoff.site.values()]
    yield _rule("the cluster's networks", own)
    yield _rule("trusted networks", described["trusted"])
    yield _rule("operators", described["operators_from"], (_SSH,))
    yield _rule("people", described["people_from"], tuple(_for_people(handoff, node)))
    yield _rule("monitoring", described["monitoring_from"], tuple(_for_monitoring(handoff, release, node)))
    if "controller" in node.roles and handoff.site[node.site].get("boot"):
        yield _Rule("machines that boot", (), "udp", (str(_DHCP),))
    for ports, networks in sorted(described["allow"].get(node.pool, {}).items()):
        numbers, _, protocol = ports.partition("/")
        yield _rule("the site's own", networks, (numbers,), protocol)


def _rule(
    of: str, networks: Iterable[str], ports: tuple[int | str, ...] | None = None, protocol: str = "tcp"
) -> _Rule | None:
    """None where nobody is let in, or to nothing."""
    merged = tuple(map(str, collapse_addresses(IPv4Network(network) for network in networks)))
    if not merged or ports == ():
        return None
    return _Rule(of, merged, protocol, tuple(map(str, ports or ())))


def _for_people(handoff: Handoff, node: Node) -> Iterator[int]:
    entrance = "login" if handoff.with_role("login") else "controller"
    if entrance in node.roles:
        yield _SSH
    if "controller" in node.roles and handoff.scheduler["rest"]:
        yield _SLURMRESTD


def _for_monitoring(handoff: Handoff, release: SlurmRelease, node: Node) -> Iterator[int]:
    if not handoff.software["monitoring"]:
        return
    yield NODE_EXPORTER_PORT
    if exports_dcgm(handoff, node):
        yield DCGM_EXPORTER_PORT
    if "controller" in node.roles:
        yield PROMETHEUS_PORT
        if release.openmetrics:
            yield SLURMCTLD_PORT
