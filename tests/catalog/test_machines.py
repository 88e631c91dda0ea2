"""Do the rows of machine types make sense?"""

from __future__ import annotations

import re
import time

import pytest

from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machines import catalog, gpu_models, machine, machines, nearest

ROWS = sorted(machines().values(), key=lambda row: row.machine)
WITH_GPUS = [row for row in ROWS if row.gpus]
GENERATIONS = {
    "nvidia": {
        *("volta", "turing", "ampere", "ada", "hopper"),
        *("blackwell", "blackwell-ultra", "grace-blackwell", "grace-blackwell-ultra"),
    },
    "amd": {"cdna3"},
}
PROMISED = """
lab-small lab-h100 p3.2xlarge g4dn.xlarge p6e-gb200.36xlarge a4x-highgpu-4g
p5.48xlarge p5en.48xlarge p4d.24xlarge p6-b200.48xlarge m7i.2xlarge m7i.4xlarge c7i.xlarge
a3-highgpu-8g a3-megagpu-8g a3-ultragpu-8g a4-highgpu-8g n2-standard-8 c3-standard-8 hgx-h100-8gpu
hgx-h200-8gpu hgx-b200-8gpu mi300x-8gpu gb200-nvl72-tray rtx4090-workstation rtx5090-workstation l4-server
generic-x86-16c generic-x86-32c
"""


def by_name(row: Hardware) -> str:
    return row.machine


def cores(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last) + 1)


@pytest.mark.parametrize("row", ROWS, ids=by_name)
def test_a_row_is_whole(row: Hardware) -> None:
    assert row.source and re.fullmatch(r"\d{4}-\d{2}", row.date)
    assert row.provider in {"lab", "aws", "gcp", "onprem"}
    assert row.architecture in {"x86_64", "arm64"}
    assert min(row.sockets, row.cores_per_socket, row.threads_per_core) >= 1
    assert row.threads_per_core <= 2
    assert row.memory_mib >= 1024
    assert row.power_watts is None or 50 <= row.power_watts <= 20_000
    assert row.nics and all(nic.gbps >= 1 for nic in row.nics)
    assert [nic.index for nic in row.nics] == list(range(len(row.nics)))
    assert {nic.kind for nic in row.nics} <= {
        "ethernet",
        "efa",
        "gvnic",
        "idpf",
        "mrdma",
        "infiniband",
        "roce",
    }


@pytest.mark.parametrize("row", WITH_GPUS, ids=by_name)
def test_gpus_share_out_the_cores_of_their_numa_nodes(row: Hardware) -> None:
    assert [gpu.minor for gpu in row.gpus] == list(range(len(row.gpus)))
    beside = {gpu.numa: cores(gpu.cores) for gpu in row.gpus}
    assert all(cores(gpu.cores) == beside[gpu.numa] for gpu in row.gpus)
    covered = [core for part in beside.values() for core in part]
    assert sorted(covered) == list(range(row.sockets * row.cores_per_socket))


@pytest.mark.parametrize("row", WITH_GPUS, ids=by_name)
def test_gpus_are_of_one_known_model(row: Hardware) -> None:
    assert row.gpu_type and re.fullmatch(r"[a-z0-9]+", row.gpu_type)
    assert row.gpu_vendor in {"nvidia", "amd"} and row.gpu_generation in GENERATIONS[row.gpu_vendor]
    assert row.gpu_model and row.gpu_memory_mib and row.gpu_memory_mib >= 8192
    assert row.nvlink_domain in {1, 2, 4, 8, 16, 72}
    addresses = [gpu.pci for gpu in row.gpus if gpu.pci]
    assert len(set(addresses)) == len(addresses) in {0, len(row.gpus)}
    assert all(re.fullmatch(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.0", text) for text in addresses)


@pytest.mark.parametrize("row", [row for row in WITH_GPUS if row.power_watts], ids=by_name)
def test_a_machine_draws_more_than_its_gpus(row: Hardware) -> None:
    watts = next(model.tdp_watts for model in gpu_models().values() if model.model == row.gpu_model)
    assert row.power_watts and watts and row.power_watts > watts * len(row.gpus)


def test_rows_without_gpus_say_nothing_of_them() -> None:
    for row in ROWS:
        if not row.gpus:
            assert (row.gpu_type, row.gpu_model, row.gpu_memory_mib, row.nvlink_domain) == (None,) * 4


def test_what_descriptions_name_is_there() -> None:
    assert set(PROMISED.split()) <= set(machines())
    assert all(any(name.startswith(f"{family}.") for name in machines()) for family in ("g5", "g6"))


def test_the_fabrics_of_the_clouds() -> None:
    assert [nic.kind for nic in machines()["p5.48xlarge"].nics] == ["efa"] * 32
    assert sum(nic.gbps for nic in machines()["p5.48xlarge"].nics) == 3200
    assert len(machines()["a3-megagpu-8g"].nics) == 9
    assert [nic.kind for nic in machines()["a3-ultragpu-8g"].nics] == ["gvnic"] * 2 + ["mrdma"] * 8


def test_an_unknown_machine_is_none_and_its_nearest_are_near() -> None:
    assert machine("p5.48xlarg") is None
    assert nearest("p5.48xlarg")[0] == "p5.48xlarge"
    assert nearest("HGX-H100-8GPU")[0] == "hgx-h100-8gpu"
    assert nearest("zzzzzzzzzzzz") == ()


def test_loading_is_fast() -> None:
    catalog.cache_clear()
    start = time.process_time()
    machines()
    assert time.process_time() - start < 0.03
