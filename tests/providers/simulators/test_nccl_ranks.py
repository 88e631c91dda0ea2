"""Which way a collective goes between nodes: over NVLink in one domain, over the fabric, over Ethernet."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
from simulated_machines import MACHINES, World

from clusterwright.providers.lab.simulators.faults import inject
from clusterwright.providers.lab.simulators.hardware import Hardware
from clusterwright.providers.lab.simulators.launch import simulator_of
from clusterwright.providers.lab.simulators.nccl_tests import answer
from clusterwright.providers.lab.simulators.node import Answer


class _Ranks:
    """What an MPI world of two nodes gathers at its first rank; only that one is played."""

    def __init__(self, other: tuple[Sequence[object], float] | None) -> None:
        self.other = other
        self.mine: tuple[Sequence[object], float] | None = None

    def gather(self, mine: tuple[Sequence[object], float], root: int) -> object:
        assert root == 0
        self.mine = mine
        return None if self.other is None else [mine, self.other]


Play = Callable[[Hardware, Hardware], Answer]


@pytest.fixture
def play(world: World, monkeypatch: pytest.MonkeyPatch) -> Play:
    """All GPUs of two nodes in one world."""
    monkeypatch.setenv("SLURM_NTASKS", "2")

    def run(first: Hardware, second: Hardware) -> Answer:
        ranks = _Ranks(None)
        for name, hardware in (("n2", second), ("n1", first)):
            mpi = SimpleNamespace(MPI=SimpleNamespace(COMM_WORLD=ranks))
            monkeypatch.setitem(sys.modules, "mpi4py", mpi)
            world.show(hardware)
            sizes = ["-b", "8G", "-e", "8G", "-g", str(len(hardware.gpus))]
            table = answer(replace(world.node(), name=name), "all_reduce_perf", sizes)
            ranks = _Ranks(ranks.mine)
        return table

    return run


def _bus(table: Answer) -> float:
    found = re.search(r"Avg bus bandwidth +: ([0-9.]+)", table.text)
    assert found, table.text
    return float(found[1])


@pytest.mark.parametrize(("domains", "path"), [(("one", "one"), "nvlink"), (("one", "two"), "network")])
def test_trays_of_one_domain_need_no_network(play: Play, domains: tuple[str, str], path: str) -> None:
    told = {"nvlink": 800.0, "network": 200.0}
    trays = [replace(MACHINES["gb200"], bandwidth=told, nvlink_cluster=domain) for domain in domains]
    assert _bus(play(*trays)) == pytest.approx(told[path], rel=0.01)


def test_plain_servers_go_over_ethernet(play: Play) -> None:
    server = replace(MACHINES["l4"], ethernet_gbps=25)
    assert 2 < _bus(play(server, server)) < 25 / 8


def test_without_a_network_there_is_no_figure(play: Play) -> None:
    down = inject(MACHINES["hgx-h100"], "nic-down")
    for number in range(1, 8):
        down = inject(down, "nic-down", number)
    said = play(down, MACHINES["hgx-h100"])
    assert said.status == 3
    assert "Test NCCL failure" in said.text


def test_nvidia_smi_tells_the_domain(world: World) -> None:
    cluster = "11111111-2222-4333-8444-555555555555"
    world.show(replace(MACHINES["gb200"], nvlink_cluster=cluster))
    query = ["--query-gpu=fabric.clusterUuid", "--format=csv,noheader"]
    given = simulator_of("nvidia-smi")(world.node(), query)
    assert given.text.split() == [cluster] * 4
