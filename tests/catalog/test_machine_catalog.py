"""Do cards, disks, prices and zones of machine types make sense, and can a type be added by rows alone?"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from clusterwright.catalog.machine_catalog import MachineCatalog, MachineType
from clusterwright.catalog.machines import catalog
from clusterwright.catalog.offers import LocalDisks
from clusterwright.catalog.table import DATA, rows

TYPES = list(catalog().types.values())
CLOUD = [kind for kind in TYPES if kind.hardware.provider in {"aws", "gcp"}]
MORE = Path(__file__).parents[1] / "fixtures" / "machine-types"
INTERFACES = {"aws": {"interface", "efa", "efa-only"}, "gcp": {"gvnic", "idpf", "mrdma"}}
NETWORKS = {"aws": {"main", "unused"}, "gcp": {"host", "gpu", "rdma", "rdma-metal"}}
PLACEMENT = {"aws": ["cluster", "partition", "spread"], "gcp": ["compact"]}
CAPACITY = {
    "aws": ["on-demand", "spot", "reservation", "capacity-block"],
    "gcp": ["on-demand", "spot", "reservation", "flex-start", "dense"],
}
ASKED_FOR = """
p4d.24xlarge p4de.24xlarge p5.4xlarge p5.48xlarge p5e.48xlarge p5en.48xlarge p6-b200.48xlarge p6-b300.48xlarge
p6e-gb200.36xlarge g4dn.xlarge g5.xlarge g6.xlarge g6e.xlarge m7i.2xlarge c7i.2xlarge r7i.2xlarge
a2-highgpu-8g a2-megagpu-16g a2-ultragpu-8g a3-highgpu-1g a3-highgpu-8g a3-megagpu-8g a3-ultragpu-8g
a4-highgpu-8g a4x-highgpu-4g a4x-maxgpu-4g-metal g2-standard-4 g4-standard-48 n2-standard-8
"""


def by_name(kind: MachineType) -> str:
    return kind.name


def in_order(names: list[str], of: list[str]) -> bool:
    return names == sorted(names, key=of.index)


def test_every_asked_for_type_is_there() -> None:
    assert set(ASKED_FOR.split()) <= set(catalog().types)


def test_rows_stand_in_the_order_of_the_machines_and_once() -> None:
    names = [row["machine"] for row in rows("machines")]
    assert len(names) == len(set(names))
    for table, key in (
        ("network_cards", ("cards",)),
        ("prices", ("region", "capacity")),
        ("offerings", ()),
    ):
        found = [row["machine"] for row in rows(table)]
        assert in_order(found, names), table
        keys = Counter((row["machine"], *(row[part] for part in key)) for row in rows(table))
        assert [key for key, times in keys.items() if times > 1] == [], table


def test_every_row_has_its_source_and_date() -> None:
    for table in ("machines", "network_cards", "prices", "offerings"):
        for row in rows(table):
            assert row["source"] and re.fullmatch(r"20\d\d-\d\d", row["date"]), row


@pytest.mark.parametrize("kind", TYPES, ids=by_name)
def test_cards_add_up_to_the_fabric(kind: MachineType) -> None:
    used = [card for card in kind.cards if card.network != "unused"]
    assert [card.index for card in kind.cards] == list(range(len(kind.cards)))
    assert sum(card.gbps for card in used if card.is_fabric) == (kind.fabric_gbps or 0)
    assert len(kind.hardware.nics) == len(used)


@pytest.mark.parametrize("kind", CLOUD, ids=by_name)
def test_what_may_be_made_on_a_card_is_what_its_cloud_makes(kind: MachineType) -> None:
    provider = kind.hardware.provider
    for card in kind.cards:
        assert card.interfaces and set(card.interfaces) <= INTERFACES[provider]
        assert card.network in NETWORKS[provider]
        assert ("efa-only" in card.interfaces or "efa" in card.interfaces) == (card.kind == "efa")
        assert card.max_interfaces is None or card.max_interfaces >= 1
    assert {"interface", "gvnic", "idpf"} & set(kind.cards[0].interfaces), "no primary interface"
    assert kind.cards[0].network in {"main", "host"}


@pytest.mark.parametrize("kind", CLOUD, ids=by_name)
def test_words_of_placement_and_capacity_are_known_and_in_order(kind: MachineType) -> None:
    provider = kind.hardware.provider
    assert kind.capacity, "nobody could get it"
    for found, known in ((kind.placement, PLACEMENT[provider]), (kind.capacity, CAPACITY[provider])):
        assert set(found) <= set(known) and in_order(list(found), known)


@pytest.mark.parametrize("kind", TYPES, ids=by_name)
def test_local_disks_have_a_size(kind: MachineType) -> None:
    for disks in kind.local_disks or ():
        assert disks.count >= 1 and 10**11 <= disks.size_bytes <= 16 * 10**12


def test_prices_are_positive_and_of_ways_that_the_type_can_be_got() -> None:
    for name, prices in catalog().prices.items():
        for price in prices:
            assert price.usd_per_hour > 0
            assert price.capacity in catalog().types[name].capacity, price


def test_a_discount_is_one() -> None:
    for prices in catalog().prices.values():
        listed = {price.region: price.usd_per_hour for price in prices if price.capacity == "on-demand"}
        for price in prices:
            if price.capacity == "spot":
                assert price.usd_per_hour <= listed.get(price.region, price.usd_per_hour), price


def test_a_gpu_costs_what_gpus_cost() -> None:
    for name, prices in catalog().prices.items():
        for price in prices:
            count = len(catalog().machines[name].gpus)
            assert not count or 0.3 <= price.usd_per_hour / count <= 25, price


def test_zones_are_spelt_as_their_cloud_spells_them() -> None:
    patterns = {"aws": r"[a-z]{2}-[a-z]+-\d[a-z]", "gcp": r"[a-z]+-[a-z]+\d-[a-z]"}
    for name, offering in catalog().offerings.items():
        provider = catalog().machines[name].provider
        for region, zones in offering.zones.items():
            assert zones and all(zone.startswith(region) for zone in zones)
            assert all(re.fullmatch(patterns[provider], zone) for zone in zones), (name, zones)


def test_what_is_known_of_well_known_types() -> None:
    b300 = catalog().types["p6-b300.48xlarge"]
    assert [card.kind for card in b300.cards] == ["ethernet"] + ["efa"] * 16
    assert b300.fabric_gbps == 6400 and b300.cards[0].interfaces == ("interface",)
    gb200 = catalog().types["p6e-gb200.36xlarge"]
    assert [card.index for card in gb200.cards if card.network != "unused"] == [0, 1, 5, 9, 13]
    metal = catalog().types["a4x-maxgpu-4g-metal"]
    assert Counter(card.kind for card in metal.cards) == {"idpf": 2, "mrdma": 8}
    assert metal.cards[0].mtu == 4096 and metal.cards[2].mtu == 8896
    assert catalog().types["p5.48xlarge"].local_disks == (LocalDisks(8, 3800 * 10**9),)
    assert catalog().types["a2-highgpu-8g"].local_disks == ()
    assert catalog().types["hgx-h100-8gpu"].local_disks is None
    assert catalog().offerings["p5.48xlarge"].zones["us-east-2"] == ("us-east-2a", "us-east-2b", "us-east-2c")
    assert catalog().offerings["a3-ultragpu-8g"].zones["us-west1"] == ("us-west1-c",)


def test_rows_of_another_folder_come_on_top() -> None:
    both = MachineCatalog(DATA, MORE)
    assert set(both.types) - set(catalog().types) == {"p9-invented.48xlarge", "p9-thirsty.24xlarge"}
    added = both.types["p9-invented.48xlarge"]
    assert (len(added.hardware.gpus), added.fabric_gbps, len(added.cards)) == (4, 3200, 5)
    assert both.types["p5.48xlarge"] == catalog().types["p5.48xlarge"]
