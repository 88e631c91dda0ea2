"""The rows of switches and of InfiniBand's speeds."""

from __future__ import annotations

import re

import pytest

from clusterwright.catalog.switch_ports import port_forms, port_name, port_numbers
from clusterwright.catalog.switches import infiniband_speeds, switch_models


def test_each_switch_is_whole() -> None:
    for name, row in switch_models().items():
        assert re.fullmatch(r"[a-z0-9-]+", name) and row.kind in {"infiniband", "ethernet"}
        assert row.ports % row.ports_per_cage == 0 and row.ports % 2 == 0
        assert row.source and re.fullmatch(r"20\d\d-\d\d", row.date)
        assert row.kind == "ethernet" or row.gbps in infiniband_speeds().values()


def test_each_ethernet_switch_tells_what_runs_on_it_and_what_ports_are_called_there() -> None:
    systems = {form.system for form in port_forms()}
    for row in switch_models().values():
        assert bool(row.systems) == (row.kind == "ethernet") and set(row.systems) <= systems
        for system in row.systems:
            names = [port_name(row, system, port) for port in range(1, row.ports + 1)]
            assert None not in names and len(set(names)) == row.ports
            numbers = port_numbers(row, system)
            assert [numbers[name or ""] for name in names] == list(range(1, row.ports + 1))
    for form in port_forms():
        assert form.source and re.fullmatch(r"20\d\d-\d\d", form.date)


@pytest.mark.parametrize(
    ("model", "system", "names"),
    [
        ("sn5600-2x400g", "cumulus", {"swp1s0": 1, "swp1s1": 2, "swp64s1": 128}),
        (
            "sn5600-2x400g",
            "sonic",
            {"etp1a": 1, "etp2b": 4, "Ethernet0": 1, "Ethernet4": 2, "Ethernet508": 128},
        ),
        ("sn5400", "cumulus", {"swp1": 1, "swp64": 64, "swp1s0": None}),
        ("sn5400", None, {"swp64": 64, "etp64": 64, "Ethernet504": 64}),
    ],
)
def test_a_port_is_known_by_each_of_its_names(
    model: str, system: str | None, names: dict[str, int | None]
) -> None:
    numbers = port_numbers(switch_models()[model], system)
    assert {name: numbers.get(name) for name in names} == names


def test_ports_are_printed_as_on_the_switch() -> None:
    assert [switch_models()["qm9700"].label(port) for port in (1, 2, 3, 64)] == ["1/1", "1/2", "2/1", "32/2"]
    assert switch_models()["qm8700"].label(40) == "40"


def test_speeds_grow_with_their_names() -> None:
    speeds = list(infiniband_speeds().values())
    assert speeds == sorted(speeds)
