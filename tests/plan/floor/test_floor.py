"""What stands where, what it draws, and the pictures and lists of it."""

from __future__ import annotations

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clusterwright.plan.floor import Floor, Watts, floors, pdu_loads, watts
from clusterwright.plan.floor.drawing import svg
from clusterwright.plan.floor.listing import text
from clusterwright.plan.floor.power import feed_loads, site_watts, terms, worst_loads
from clusterwright.plan.outline import Outline
from clusterwright.plan.owning import own_costs
from clusterwright.spec.load import load, loads

ROOT = Path(__file__).parents[3]
ROOM = """
cluster: try
site:
  provider: onprem
  power_price: 0.1
  pue: 1.5
  rooms:
    hall:
      rack: {units: 48, pdus: {a: {limit: 20 kW}, b: {limit: 20 kW}}}
      rows:
        r: {racks: "r[1-2]"}
        s: {racks: s1, rack: {units: 42}}
  devices:
    oob: {racks: r1, unit: 40, power: 300 W}
pools:
  head: {roles: [controller, login, storage], machine: generic-x86-16c}
  gpu:
    roles: compute
    machine: hgx-h100-8gpu
    count: 3
    racks: {names: "r[1-2]", nodes_per_rack: 2, first_unit: 1, units: 8, power: 9 kW, plugs: [a, a, b]}
    purchase: {price: 87660, years: 1}
"""


def floor(body: str = ROOM) -> Floor:
    return next(floors(Outline(loads(body).spec, {})))


def test_everything_stands_where_the_description_puts_it() -> None:
    racks = floor().racks
    assert list(racks) == ["r1", "r2", "s1"]
    assert [(one.name, one.unit) for one in racks["r1"].placed] == [
        ("gpu-001", 1),
        ("gpu-002", 9),
        ("oob-r1", 40),
    ]
    assert [one.name for one in racks["r2"].placed] == ["gpu-003"]


def test_a_row_has_its_own_words_and_the_rooms_for_the_rest() -> None:
    racks = floor().racks
    assert (racks["r1"].like.units, racks["s1"].like.units) == (48, 42)
    assert list(racks["s1"].like.pdus) == ["a", "b"]


def test_sums_say_what_is_unknown() -> None:
    found = floor(ROOM.replace("power: 300 W", "units: 1"))
    assert watts([found.racks["r1"]]) == Watts(18_000, 1)
    assert site_watts(found) == Watts(27_500, 1)
    assert list(terms(found)) == [
        "3 × hgx-h100-8gpu 9 kW",
        "1 × oob unknown",
        "1 × generic-x86-16c 500 W",
    ]


def test_a_machine_draws_evenly_over_its_supplies() -> None:
    rack = floor().racks["r1"]
    assert pdu_loads(rack) == {"a": 12_150, "b": 6_150}
    assert pdu_loads(rack, "a") == {"b": 18_300}
    assert worst_loads(rack) == {"a": 18_300, "b": 18_300}


def test_a_machine_without_a_live_supply_is_off() -> None:
    rack = floor(ROOM.replace("[a, a, b]", "[a, a]")).racks["r1"]
    assert pdu_loads(rack) == {"a": 18_150, "b": 150}
    assert pdu_loads(rack, "a") == {"b": 300}


def test_pdus_of_one_feed_fail_together() -> None:
    body = ROOM.replace("b: {limit: 20 kW}}", "b: {feed: a, limit: 20 kW}, c: {limit: 20 kW}}")
    rack = floor(body).racks["r1"]
    assert rack.feeds == ["a", "c"]
    assert pdu_loads(rack, "a") == {"c": 300}


def test_feeds_of_a_site_take_over_from_one_another() -> None:
    found = feed_loads(floor())
    assert found == {"a": (18_150, 27_300), "b": (9_150, 27_300)}


def test_an_hour_of_a_gpu_costs_its_part_of_price_and_power() -> None:
    (own,) = own_costs(Outline(loads(ROOM).spec, {}))
    assert own.purchase == 1.25, "87,660 dollars in 8,766 hours for 8 GPUs"
    assert own.power == pytest.approx(9 * 0.1 * 1.5 / 8, abs=1e-4)
    assert own.rented and own.rented.machine.startswith("p5.")


def test_the_list_has_every_device() -> None:
    rows = list(csv.DictReader(text((floor(),)).splitlines()))
    assert [row["device"] for row in rows] == ["gpu-001", "gpu-002", "oob-r1", "gpu-003"]
    assert rows[0]["plugs"] == "a a b" and rows[2]["plugs"] == "a b"


@pytest.mark.parametrize("example", ["onprem-superpod", "gb200-nvl72", "onprem-hgx-h100"])
def test_the_picture_has_every_device(example: str) -> None:
    found = Outline(load(ROOT / f"clusters/{example}.yaml").spec, {}).floors
    drawn = svg(found, "a & b")
    words = {element.text for element in ElementTree.fromstring(drawn).iter()}
    placed = [one for each in found for rack in each.racks.values() for one in rack.placed if one.unit]
    assert "a & b" in words
    assert {one.name for one in placed} <= words
    assert drawn == svg(Outline(load(ROOT / f"clusters/{example}.yaml").spec, {}).floors, "a & b")


def test_what_is_over_its_limit_is_drawn_as_such() -> None:
    over = "#e58f84"
    assert over not in svg((floor(),), "try")
    assert over in svg((floor(ROOM.replace("limit: 20 kW", "limit: 15 kW")),), "try")
