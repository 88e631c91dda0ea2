"""Which way a collective goes between nodes: over NVLink within one domain, over the network between two."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
from simulated_machines import MACHINES, World

from clusterwright.providers.lab.simulators.launch import simulator_of
from clusterwright.providers.lab.simulators.nccl_tests import answer


class _Ranks:
    """What an MPI world of two nodes gathers at its first rank; only that one is played."""

    def __init__(self, other: tuple[Sequence[object], float] | None) -> None:
        self.other = other
        self.mine: tuple[Sequence[object], float] | None = None

    def gather(self, mine: tuple[Sequence[object], float], root: int) -> object:
        assert root == 0
        self.mine = mine
        return None if self.other is None else [mine, self.other]


@pytest.mark.parametrize(("domains", "rate"), [(("one", "one"), "nvlink"), (("one", "two"), "network")])
def test_trays_of_one_domain_need_no_network(
    world: World, monkeypatch: pytest.MonkeyPatch, domains: tuple[str, str], rate: str
) -> None:
    monkeypatch.setenv("SLURM_NTASKS", "2")
    told = {"nvlink": 800.0, "network": 200.0}
    hardware = replace(MACHINES["gb200"], bandwidth=told)
    ranks = _Ranks(None)
    for name, domain in zip(("n2", "n1"), domains, strict=True):
        monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace(MPI=SimpleNamespace(COMM_WORLD=ranks)))
        world.show(replace(hardware, nvlink_cluster=domain))
        table = answer(
            replace(world.node(), name=name), "all_reduce_perf", ["-b", "8G", "-e", "8G", "-g", "4"]
        )
        ranks = _Ranks(ranks.mine)
    found = re.search(r"Avg bus bandwidth +: ([0-9.]+)", table.text)
    assert found and float(found[1]) == pytest.approx(told[rate], rel=0.01)


def test_nvidia_smi_tells_the_domain(world: World) -> None:
    cluster = "11111111-2222-4333-8444-555555555555"
    world.show(replace(MACHINES["gb200"], nvlink_cluster=cluster))
    query = ["--query-gpu=fabric.clusterUuid", "--format=csv,noheader"]
    given = simulator_of("nvidia-smi")(world.node(), query)
    assert given.text.split() == [cluster] * 4
