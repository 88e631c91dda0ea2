"""A lab's network: one /24 that nothing on the host uses, a bridge for each site, one nftables table.

This machine is the router between the sites, and the way out."""

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
class Segment:
    """The network of one site."""

    bridge: str
    network: IPv4Network

    @property
    def gateway(self) -> IPv4Address:
        return self.network[1]


@dataclass(frozen=True, slots=True)
class Network:
    """The network of one lab; its names follow from the lab's, so it can be found without state."""

    key: str
    subnet: IPv4Network
    sites: int = 1

    @property
    def gateway(self) -> IPv4Address:
        return self.subnet[1]

    @property
    def bridge(self) -> str:
        return bridge_name(self.key)

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Of the sites, in their order: equal parts, each on a bridge of its own."""
        parts = self.subnet.subnets(prefixlen_diff=(self.sites - 1).bit_length())
        named = (f"{self.bridge}-{number}" if number else self.bridge for number in range(self.sites))
        return tuple(Segment(name, part) for name, part in zip(named, parts, strict=False))

    def at(self, address: IPv4Address) -> Segment:
        """Where this address is."""
        return next(one for one in self.segments if address in one.network)


def lab_key(home: LabHome, lab: str) -> str:
    """Eight characters that stand for this lab of this home, where the kernel allows only short names."""
    return hashlib.sha256(f"{home.state}\0{lab}".encode()).hexdigest()[:8]


def bridge_name(key: str) -> str:
    return f"cw-{key}"


def table_name(key: str) -> str:
    return f"clusterwright_{key}"


def reserve(home: LabHome, lab: str, sites: int | None = None) -> Network:
    """The lab's network; the first call chooses it and records it before anything uses it.

    `sites`: how many it is for; None for as many as there were."""
    key = lab_key(home, lab)
    known = state.load(home, lab)
    if known and sites in (None, known.sites):
        return Network(key, known.subnet, known.sites)
    with state.shared_resource(home, "subnets"):
        taken = [*_networks_of_host(), *_networks_of_labs(home)] if known is None else []
        subnet = known.subnet if known else free_subnet(key, taken)
        state.save(home, state.LabState(lab, subnet, sites or 1))
    return Network(key, subnet, sites or 1)


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
    """Bridges, forwarding and NAT as they must be; what is right already is left alone."""
    for segment in network.segments:
        _bridge(segment)
    kernel.raise_to_need(home, kernel.FORWARDING)
    kernel.raise_to_need(home, kernel.INOTIFY_INSTANCES)
    run(["nft", "-f", "-"], stdin=_nat_rules(network))


def _bridge(segment: Segment) -> None:
    if not quiet(["ip", "link", "show", "dev", segment.bridge]):
        run(["ip", "link", "add", segment.bridge, "type", "bridge"])
    own = f"{segment.gateway}/{segment.network.prefixlen}"
    if own not in (there := _addresses_of(segment.bridge)):
        for address in there:  # of a time with more or fewer sites
            run(["ip", "address", "delete", address, "dev", segment.bridge])
        run(["ip", "address", "add", own, "dev", segment.bridge])
    run(["ip", "link", "set", segment.bridge, "up"])
    # Look for a booting node every 50 ms: the default second between ARP requests would be most of its boot.
    Path(f"/proc/sys/net/ipv4/neigh/{segment.bridge}/retrans_time_ms").write_text("50")


def _addresses_of(bridge: str) -> list[str]:
    rows = json.loads(run(["ip", "-json", "-4", "address", "show", "dev", bridge]) or "[]")
    return [f"{one['local']}/{one['prefixlen']}" for row in rows for one in row.get("addr_info", [])]


def cut(network: Network, site: IPv4Network) -> None:
    """Let nothing pass between a site and the others; this machine reaches all of them."""
    away = network.at(site[1]).bridge
    others = ", ".join(f'"{one.bridge}"' for one in network.segments if one.bridge != away)
    table = f"table ip {_cut_name(network.key)}"
    run(
        ["nft", "-f", "-"],
        stdin=(
            f"{table}\ndelete {table}\n{table} {{\n"
            "  chain forward {\n"
            "    type filter hook forward priority filter; policy accept;\n"
            f'    iifname "{away}" oifname {{ {others} }} drop\n'
            f'    iifname {{ {others} }} oifname "{away}" drop\n'
            "  }\n}\n"
        ),
    )


def mend(key: str) -> None:
    """Let everything pass between sites again."""
    quiet(["nft", "delete", "table", "ip", _cut_name(key)])


def _cut_name(key: str) -> str:
    return f"{table_name(key)}_cut"


def tear_down(home: LabHome, lab: str) -> None:
    """Remove what `bring_up` made; the last lab to go gives the host its kernel settings back."""
    key = lab_key(home, lab)
    mend(key)
    quiet(["nft", "delete", "table", "ip", table_name(key)])
    for link in json.loads(run(["ip", "-json", "link", "show", "type", "bridge"]) or "[]"):
        if link["ifname"].startswith(bridge_name(key)):
            quiet(["ip", "link", "delete", link["ifname"]])
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
        f"    ip saddr {network.subnet} ip daddr != {network.subnet} masquerade\n"
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
