"""A lab's network: one bridge, one /24 that nothing on the host uses, one nftables table for the way out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, ip_address
from pathlib import Path

from clusterwright.finding import Finding, Severity, Where, refuse
from clusterwright.providers.lab import kernel, state
from clusterwright.providers.lab.command import quiet, run
from clusterwright.providers.lab.home import LabHome

NO_FREE_SUBNET = "CW7040"
FORWARDING_IS_FILTERED = "CW7041"
# Above the low tens that clouds and offices like, below the 10.128+ of many overlay networks.
_CANDIDATE_RANGE = IPv4Network("10.64.0.0/10")


@dataclass(frozen=True, slots=True)
class Network:
    """The network of one lab; its names follow from the lab's, so it can be found without state."""

    key: str
    subnet: IPv4Network

    @property
    def gateway(self) -> IPv4Address:
        return self.subnet[1]

    @property
    def bridge(self) -> str:
        return bridge_name(self.key)


def lab_key(home: LabHome, lab: str) -> str:
    """Eight characters that stand for this lab of this home, where the kernel allows only short names."""
    return hashlib.sha256(f"{home.state}\0{lab}".encode()).hexdigest()[:8]


def bridge_name(key: str) -> str:
    return f"cw-{key}"


def table_name(key: str) -> str:
    return f"clusterwright_{key}"


def reserve(home: LabHome, lab: str) -> Network:
    """The lab's network; the first call chooses it and records it before anything uses it."""
    key = lab_key(home, lab)
    known = state.load(home, lab)
    if known:
        return Network(key, known.subnet)
    with state.shared_resource(home, "subnets"):
        taken = [*_networks_of_host(), *_networks_of_labs(home)]
        subnet = free_subnet(key, taken)
        state.save(home, state.LabState(lab, subnet))
    return Network(key, subnet)


def free_subnet(key: str, taken: Iterable[IPv4Network]) -> IPv4Network:
    """The first /24 in an order of the lab's own that overlaps nothing taken."""
    used = list(taken)
    for candidate in _candidates(key):
        if not any(candidate.overlaps(network) for network in used):
            return candidate
    raise refuse(
        NO_FREE_SUBNET,
        Where(path="network"),
        f"every /24 of {_CANDIDATE_RANGE} overlaps an address or a route of this machine",
        "Destroy a lab that is no longer used, or withdraw a route that covers the whole range",
    )


def bring_up(home: LabHome, network: Network) -> None:
    """Bridge, forwarding and NAT as they must be; what is right already is left alone."""
    if not quiet(["ip", "link", "show", "dev", network.bridge]):
        run(["ip", "link", "add", network.bridge, "type", "bridge"])
    run(["ip", "address", "replace", f"{network.gateway}/{network.subnet.prefixlen}", "dev", network.bridge])
    run(["ip", "link", "set", network.bridge, "up"])
    # Look for a booting node every 50 ms: the default second between ARP requests would be most of its boot.
    Path(f"/proc/sys/net/ipv4/neigh/{network.bridge}/retrans_time_ms").write_text("50")
    kernel.raise_to_need(home, kernel.FORWARDING)
    kernel.raise_to_need(home, kernel.INOTIFY_INSTANCES)
    run(["nft", "-f", "-"], stdin=_nat_rules(network))


def tear_down(home: LabHome, lab: str) -> None:
    """Remove what `bring_up` made; the last lab to go gives the host its kernel settings back."""
    key = lab_key(home, lab)
    quiet(["nft", "delete", "table", "ip", table_name(key)])
    quiet(["ip", "link", "delete", bridge_name(key)])
    if not any(name != lab for name in state.names(home)):
        kernel.give_back(home)


def filtered() -> list[Finding]:
    """A warning when a table that is not the lab's drops forwarded packets; it is the owner's to change."""
    ruleset = json.loads(run(["nft", "-j", "list", "ruleset"]))["nftables"]
    chains = [entry["chain"] for entry in ruleset if "chain" in entry]
    return [
        Finding(
            FORWARDING_IS_FILTERED,
            Where(path=f"table {chain['family']} {chain['table']}, chain {chain['name']}"),
            "this machine's firewall drops forwarded packets, so the lab's nodes may not reach packages",
            "Allow forwarding from and to the interfaces whose names start with cw- in that table",
            Severity.WARNING,
        )
        for chain in chains
        if chain.get("hook") == "forward"
        and chain.get("policy") == "drop"
        and chain["family"] in ("ip", "inet")
    ]


def outward_mtu() -> int:
    """The packet size that the host's way out takes; larger ones from a node could be lost there."""
    routes = json.loads(run(["ip", "-json", "route", "show", "default"]) or "[]")
    devices = {route["dev"] for route in routes if "dev" in route}
    links = json.loads(run(["ip", "-json", "link", "show"]))
    return min((link["mtu"] for link in links if link["ifname"] in devices), default=1500)


def _nat_rules(network: Network) -> str:
    table = f"table ip {table_name(network.key)}"
    # Declared, deleted and made in one transaction: the same rules whether or not the table was there.
    return (
        f"{table}\ndelete {table}\n{table} {{\n"
        "  chain postrouting {\n"
        "    type nat hook postrouting priority srcnat; policy accept;\n"
        f'    ip saddr {network.subnet} oifname != "{network.bridge}" masquerade\n'
        "  }\n}\n"
    )


def _candidates(key: str) -> Iterator[IPv4Network]:
    everything = list(_CANDIDATE_RANGE.subnets(new_prefix=24))
    start = int(key, 16) % len(everything)
    yield from everything[start:]
    yield from everything[:start]


def _networks_of_host() -> Iterator[IPv4Network]:
    for entry in json.loads(run(["ip", "-json", "-4", "address", "show"]) or "[]"):
        for address in entry.get("addr_info", []):
            if "local" in address:
                yield IPv4Network(f"{address['local']}/{address['prefixlen']}", strict=False)
    for route in json.loads(run(["ip", "-json", "-4", "route", "show", "table", "all"]) or "[]"):
        if route.get("dst", "default") != "default":
            yield IPv4Network(route["dst"], strict=False)
    yield from (IPv4Network(address) for address in nameservers() if address.version == 4)


def nameservers(resolv_conf: str | None = None) -> list[IPv4Address]:
    """The name servers a node can use too: not the ones on the host's loopback."""
    for path in (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf")):
        text = resolv_conf if resolv_conf is not None else (path.read_text() if path.exists() else "")
        words = [line.split() for line in text.splitlines()]
        found = [ip_address(parts[1]) for parts in words if len(parts) > 1 and parts[0] == "nameserver"]
        usable = [a for a in found if isinstance(a, IPv4Address) and not a.is_loopback]
        if usable or resolv_conf is not None:
            return usable
    return []


def _networks_of_labs(home: LabHome) -> Iterator[IPv4Network]:
    for name in state.names(home):
        document = state.folder(home, name) / "state.json"
        try:
            yield IPv4Network(json.loads(document.read_text())["subnet"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
