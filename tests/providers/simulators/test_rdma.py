"""RDMA devices on simulated ground: the files that a real ibstat would read, and their faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from simulated_machines import MACHINES

from clusterwright.providers.lab import simulate
from clusterwright.providers.lab.simulators.faults import inject
from clusterwright.providers.lab.simulators.rdma import devices, tree

HGX = MACHINES["hgx-h100"]
PORT = "infiniband/mlx5_3/ports/1"


def test_the_names_that_the_kernel_gives() -> None:
    assert [name for name, _ in devices(HGX)] == [f"mlx5_{number}" for number in range(8)]
    assert [name for name, _ in devices(MACHINES["p5"])][:2] == ["efa_0", "efa_1"]
    assert "mlx5_2" not in dict(devices(inject(HGX, "nic-missing", 2)))
    assert devices(MACHINES["l4"]) == []


def test_a_port_and_its_faults() -> None:
    assert tree(HGX)[f"{PORT}/rate"] == "400 Gb/sec (4X NDR)"
    assert tree(inject(HGX, "nic-slow", 3))[f"{PORT}/rate"] == "100 Gb/sec (4X EDR)"
    down = tree(inject(HGX, "nic-down", 3))
    assert (down[f"{PORT}/state"], down[f"{PORT}/phys_state"]) == ("1: DOWN", "2: Polling")
    assert f"{PORT}/state" not in tree(inject(HGX, "nic-missing", 3))


def test_no_two_cards_of_two_nodes_have_one_guid() -> None:
    other = replace(HGX, gpus=(replace(HGX.gpus[0], uuid="GPU-other"), *HGX.gpus[1:]))
    found = [tree(node)[f"infiniband/{name}/node_guid"] for node in (HGX, other) for name, _ in devices(node)]
    assert len(set(found)) == 16


def test_files_of_what_is_gone_are_gone(tmp_path: Path) -> None:
    for hardware in (HGX, inject(HGX, "nic-missing", 7), HGX):
        simulate.write_tree(tmp_path, tree(hardware))
        files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
        assert files == set(tree(hardware))
        folders = {path.name for path in (tmp_path / "infiniband").iterdir()}
        assert folders == {name for name, _ in devices(hardware)}
