"""Network interfaces of a node: which are made on which card, in which network, with how many addresses.

One address a node wherever the type allows it: EFA-only interfaces take none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.network_cards import UNUSED, NetworkCard

MAIN = "main"
"""The subnet of AWS that all interfaces of a node are in."""
_ADDRESSLESS = {"efa-only"}
_OWN_NETWORK = {"host", "gpu"}
"""Google Cloud: two interfaces of one machine may not share a VPC, except in an RDMA one."""


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface."""

    card: int
    """NetworkCardIndex on AWS; the number of the interface, nic0 …, on Google Cloud."""
    device: int
    """DeviceIndex, counted on its card; always 0 on Google Cloud."""
    kind: str
    network: str
    """Name of the network that it joins, see `Network`."""
    subnet: int
    addresses: int
    """IPv4 addresses that it takes."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network that machines of a type need."""

    name: str
    """`main`, `host-0`, `gpu-1`, `rdma` …"""
    kind: str
    mtu: int | None
    """None where any will do."""
    subnets: int
    """To be made; none in a network that brings its own."""


@dataclass(frozen=True, slots=True)
class InterfacePlan:
    """What a launch template or an instance template says of interfaces. The first one is primary."""

    interfaces: tuple[Interface, ...]
    networks: tuple[Network, ...]

    @property
    def addresses(self) -> Mapping[str, int]:
        """IPv4 addresses that a node takes, by network."""
        taken: Counter[str] = Counter()
        for interface in self.interfaces:
            taken[interface.network] += interface.addresses
        return dict(taken)


def interface_plan(kind: MachineType, *, fabric: bool = True) -> InterfacePlan:
    """Interfaces of a node of this type, with its fabric or, as on a login node, the primary one only.

    Empty where machines bring their interfaces themselves.
    """
    cards = tuple(card for card in kind.cards if card.network != UNUSED)
    wanted = cards if fabric else cards[:1]
    match kind.hardware.provider:
        case "aws":
            return _aws(wanted, fabric)
        case "gcp":
            return _google(wanted)
        case _:
            return InterfacePlan((), ())


def addresses_of_site(kind: MachineType, *, fabric: bool) -> int:
    """Addresses that a node takes of its site's network, which the primary interface is in."""
    made = interface_plan(kind, fabric=fabric)
    return made.addresses[made.interfaces[0].network] if made.interfaces else 1


def _aws(cards: tuple[NetworkCard, ...], fabric: bool) -> InterfacePlan:
    primary, *others = cards
    made = [*_primary(primary, fabric), *(_further(card) for card in others)]
    return InterfacePlan(tuple(made), (Network(MAIN, MAIN, None, 1),))


def _primary(card: NetworkCard, fabric: bool) -> Iterator[Interface]:
    """The primary interface cannot be EFA-only: the card's EFA goes beside it, or both are one."""
    beside = fabric and "efa-only" in card.interfaces and (card.max_interfaces or 1) > 1
    yield _interface(card, 0, "efa" if fabric and "efa" in card.interfaces and not beside else "interface")
    if beside:
        yield _interface(card, 1, "efa-only")


def _further(card: NetworkCard) -> Interface:
    """At device 1, as ParallelCluster does on every type; at 0 on a card that takes one interface only."""
    best = next(kind for kind in ("efa-only", "efa", "interface") if kind in card.interfaces)
    return _interface(card, 1 if (card.max_interfaces or 1) > 1 else 0, best)


def _interface(card: NetworkCard, device: int, kind: str) -> Interface:
    return Interface(card.index, device, kind, MAIN, 0, 0 if kind in _ADDRESSLESS else 1)


def _google(cards: tuple[NetworkCard, ...]) -> InterfacePlan:
    """One VPC for each gVNIC and IDPF card; one for all RDMA cards, with a subnet for each of them."""
    made: list[Interface] = []
    networks: dict[str, Network] = {}
    seen: Counter[str] = Counter()
    for card in cards:
        number = seen[card.network]
        seen[card.network] += 1
        own = card.network in _OWN_NETWORK
        name = f"{card.network}-{number}" if own else card.network
        # IPv6 only, in a subnet that Google Cloud makes: Cluster Toolkit 1047080, a4x-maxgpu-4g-metal.
        brought = card.network == "rdma-metal"
        subnet = 0 if own or brought else number
        made.append(Interface(card.index, 0, card.interfaces[0], name, subnet, 0 if brought else 1))
        networks[name] = Network(name, card.network, card.mtu, 0 if brought else subnet + 1)
    return InterfacePlan(tuple(made), tuple(networks.values()))
