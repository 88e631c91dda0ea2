"""Every option of the simulated amd-smi's table asks for something that it tells."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from simulated_machines import World

from clusterwright.providers.lab.simulators import amd_smi
from clusterwright.providers.lab.simulators.launch import simulator_of
from clusterwright.providers.lab.simulators.node import Node

TABLE = Path(amd_smi.__file__).with_name("options.csv")
OF_PARTS = ("static", "metric", "firmware", "bad-pages", "topology", "list", "xgmi", "partition")
ASKED = [
    (row["command"], name)
    for row in csv.DictReader(TABLE.read_text().splitlines())
    if row["command"] in OF_PARTS
    for name in (row["option"], row["short"])
    if name
]


@pytest.fixture
def node(world: World) -> Node:
    world.machine("mi300x")
    world.load("amdgpu", "6.16.6")
    return world.node("7.2.4")


@pytest.mark.parametrize(("command", "option"), ASKED)
def test_an_option_tells_a_part_of_what_the_command_tells(command: str, option: str, node: Node) -> None:
    whole, part = (
        simulator_of("amd-smi")(node, [command, *words, "--json", "-g", "0"]) for words in ([], [option])
    )
    assert (whole.status, part.status) == (0, 0)
    told = _members(json.loads(part.text)) - {"gpu", "bdf", "gpu_data", "links"}
    assert told
    if command != "list":
        assert told <= _members(json.loads(whole.text))


def test_clocks_can_be_named(node: Node) -> None:
    given = simulator_of("amd-smi")(node, ["static", "-C", "SYS", "mem", "-g", "0", "--json"])
    assert list(json.loads(given.text)["gpu_data"][0]["clock"]) == ["sys", "mem"]


@pytest.mark.usefixtures("node")
def test_what_an_older_release_calls_otherwise(world: World) -> None:
    def told(release: str) -> object:
        given = simulator_of("amd-smi")(world.node(release), ["static", "--vbios", "--json", "-g", "0"])
        return json.loads(given.text)

    empty = dict.fromkeys(("name", "build_date", "part_number", "version"), "N/A")
    assert told("6.2.2") == [{"gpu": 0, "vbios": empty}]
    assert told("7.0.2") == {"gpu_data": [{"gpu": 0, "vbios": empty}]}
    assert told("7.2.4") == {"gpu_data": [{"gpu": 0, "ifwi": empty}]}


def _members(document: object) -> set[str]:
    if isinstance(document, dict):
        return set(document) | {name for value in document.values() for name in _members(value)}
    return {name for each in document for name in _members(each)} if isinstance(document, list) else set()
