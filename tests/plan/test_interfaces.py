"""The interfaces of every machine type: as its cloud allows them, and no address more than needed."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterwright.catalog.machine_catalog import MachineType
from clusterwright.catalog.machines import catalog
from clusterwright.catalog.network_cards import UNUSED
from clusterwright.catalog.subnets import reserved
from clusterwright.plan.address import assign, prefix_for, room
from clusterwright.plan.interfaces import Interface, interface_plan

TYPES = list(catalog().types.values())
AWS = [kind for kind in TYPES if kind.hardware.provider == "aws"]
GOOGLE = [kind for kind in TYPES if kind.hardware.provider == "gcp"]


def by_name(kind: MachineType) -> str:
    return kind.name


def planned(name: str, *, fabric: bool = True) -> tuple[Interface, ...]:
    return interface_plan(catalog().types[name], fabric=fabric).interfaces


def written(name: str, *, fabric: bool = True) -> str:
    """Cards of one kind at one device index, as `efa-only@0 1-31`."""
    groups: dict[tuple[str, int], list[int]] = {}
    for one in planned(name, fabric=fabric):
        groups.setdefault((one.kind, one.device), []).append(one.card)
    return ", ".join(f"{kind}@{device} {cards}" for (kind, device), cards in groups.items())


@pytest.mark.parametrize(
    ("name", "cards"),
    [
        ("p5.48xlarge", f"interface@0 [0], efa-only@1 {list(range(32))}"),
        ("p6-b200.48xlarge", f"interface@0 [0], efa-only@1 {list(range(8))}"),
        ("p6-b300.48xlarge", f"interface@0 [0], efa-only@1 {list(range(1, 17))}"),
        ("p6e-gb200.36xlarge", "interface@0 [0], efa-only@0 [1, 5, 9, 13]"),
        ("p4d.24xlarge", "interface@0 [0], efa-only@1 [0, 1, 2, 3]"),
        ("g6.48xlarge", "interface@0 [0], efa-only@1 [0]"),
        ("m7i.2xlarge", "interface@0 [0]"),
    ],
)
def test_the_cards_of_aws_are_used_as_its_user_guide_says(name: str, cards: str) -> None:
    assert written(name) == cards


@pytest.mark.parametrize("kind", AWS, ids=by_name)
@pytest.mark.parametrize("fabric", [True, False], ids=["fabric", "plain"])
def test_aws_takes_every_interface_of_the_plan(kind: MachineType, fabric: bool) -> None:
    made = interface_plan(kind, fabric=fabric).interfaces
    by_index = {card.index: card for card in kind.cards}
    assert (made[0].card, made[0].device) == (0, 0) and made[0].kind in {"interface", "efa"}
    assert len({(one.card, one.device) for one in made}) == len(made)
    for card, count in Counter(one.card for one in made).items():
        assert count <= (by_index[card].max_interfaces or 1)
    assert all(one.kind in by_index[one.card].interfaces for one in made)
    fabric_cards = [card for card in kind.cards if card.is_fabric and card.network != UNUSED]
    assert sum(one.kind.startswith("efa") for one in made) == (len(fabric_cards) if fabric else 0)
    assert sum(one.addresses for one in made) == 1


def test_a_card_with_one_interface_is_ena_and_efa_in_one() -> None:
    g6 = catalog().types["g6.48xlarge"]
    (card,) = g6.cards
    single = MachineType(
        g6.hardware, (type(card)(0, "efa", 100, card.interfaces, 1, "main", None),), 100, None, (), ()
    )
    (only,) = interface_plan(single).interfaces
    assert (only.kind, only.addresses) == ("efa", 1)


@pytest.mark.parametrize(
    ("name", "networks"),
    [
        ("a3-megagpu-8g", [("host-0", 8244, 1), *((f"gpu-{n}", 8244, 1) for n in range(8))]),
        ("a3-highgpu-8g", [("host-0", 8244, 1), *((f"gpu-{n}", 8244, 1) for n in range(4))]),
        ("a3-ultragpu-8g", [("host-0", 8896, 1), ("host-1", 8896, 1), ("rdma", 8896, 8)]),
        ("a4x-highgpu-4g", [("host-0", 8896, 1), ("host-1", 8896, 1), ("rdma", 8896, 4)]),
        ("a4x-maxgpu-4g-metal", [("host-0", 4096, 1), ("host-1", 4096, 1), ("rdma-metal", 8896, 0)]),
        ("n2-standard-8", [("host-0", None, 1)]),
    ],
)
def test_the_networks_that_google_needs(name: str, networks: list[tuple[str, int | None, int]]) -> None:
    made = interface_plan(catalog().types[name])
    assert [(one.name, one.mtu, one.subnets) for one in made.networks] == networks


@pytest.mark.parametrize("kind", GOOGLE, ids=by_name)
def test_google_takes_every_interface_of_the_plan(kind: MachineType) -> None:
    made = interface_plan(kind)
    assert [one.card for one in made.interfaces] == list(range(len(kind.cards)))
    assert len({(one.network, one.subnet) for one in made.interfaces if one.addresses}) == sum(
        one.addresses for one in made.interfaces
    )
    for network in made.networks:
        inside = [one for one in made.interfaces if one.network == network.name]
        assert inside and all(one.subnet < max(network.subnets, 1) for one in inside)
        assert len(inside) == 1 or network.kind.startswith("rdma")
    assert interface_plan(kind, fabric=False).interfaces == made.interfaces[:1]


def test_other_machines_bring_their_own() -> None:
    assert planned("hgx-h100-8gpu") == planned("lab-h100") == ()


@given(st.sampled_from(["aws", "gcp", "lab", "onprem"]), st.integers(1, 5000))
@settings(max_examples=200, deadline=None)
def test_the_smallest_network_is_large_enough_and_no_larger(provider: str, nodes: int) -> None:
    kept = reserved(provider)
    length = prefix_for(nodes, kept)
    assert room(IPv4Network((0x0A000000, length)), kept) >= nodes
    assert room(IPv4Network((0x0A000000, length + 1)), kept) < nodes


@given(st.sampled_from(["aws", "gcp", "lab", "onprem"]), st.integers(24, 28))
@settings(max_examples=40, deadline=None)
def test_no_node_gets_an_address_that_its_provider_keeps(provider: str, length: int) -> None:
    network, kept = IPv4Network((0x0A000000, length)), reserved(provider)
    names = [f"n{number}" for number in range(room(network, kept))]
    given_out = set(assign(names, network, kept, {}).values())
    whole = [str(address) for address in network]
    assert given_out == set(whole[kept.first : len(whole) - kept.last])
    assert len(given_out) == len(names)
