"""Rows that gates judge by: whole, sourced, and without what healthy hardware fails."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from clusterwright.catalog.gpu_health import expected, gpu_links, threshold, thresholds, xid_actions
from clusterwright.catalog.hardware import Hardware
from clusterwright.catalog.machines import gpu_models, machine, machines

HEALTHY_FIGURES = {
    # What systems that work have reached between two nodes: a bound above it fails good hardware.
    "p4d.24xlarge": 57.0,  # github.com/NVIDIA/nccl issue 527
    "p5.48xlarge": 487.0,  # awsome-distributed-training, README of its nccl-tests
    "hgx-h100-8gpu": 388.0,  # published all_reduce of two DGX H100
}


def known(name: str) -> Hardware:
    found = machine(name)
    assert found is not None
    return found


def test_every_row_has_its_source() -> None:
    for row in (*gpu_links().values(), *xid_actions(), *thresholds()):
        assert row.source and re.fullmatch(r"20\d\d-\d\d", row.date)


def test_every_gpu_of_the_catalog_has_its_links() -> None:
    assert set(gpu_links()) == set(gpu_models())
    assert all(links.nvlinks in (None, 0, 6, 12, 18) for links in gpu_links().values())
    assert all(links.pcie_generation in (None, 3, 4, 5, 6) for links in gpu_links().values())


def test_no_xid_has_two_actions_on_one_generation() -> None:
    keys = [(row.xid, row.generation) for row in xid_actions()]
    assert keys == sorted(set(keys))
    assert {row.generation for row in xid_actions()} <= {
        "",
        *(gpu.generation for gpu in gpu_models().values()),
    }


@pytest.mark.parametrize(
    ("name", "xid", "action"),
    [
        ("hgx-h100-8gpu", 79, "REBOOT"),
        ("hgx-h100-8gpu", 95, "RESET"),
        ("p4d.24xlarge", 95, "REBOOT"),
        ("p4d.24xlarge", 64, "REBOOT"),
        ("p4d.24xlarge", 13, "MONITOR"),
        ("l4-server", 54, "ISOLATE"),
        ("hgx-b200-8gpu", 154, "TEXT"),
    ],
)
def test_what_an_xid_asks_for(name: str, xid: int, action: str) -> None:
    xids = expected(known(name))["xids"]
    assert [key for key, numbers in xids.items() if xid in numbers] == [action]


def test_only_gpus_that_are_joined_have_nvlinks_to_count() -> None:
    assert expected(known("hgx-h100-8gpu"))["nvlinks"] == 18
    assert expected(known("p3.2xlarge"))["nvlinks"] is None
    assert expected(known("mi300x-8gpu")) == {
        "xgmi_links": 7,
        "pcie_generation": 5,
        "pcie_width": 16,
    }
    assert expected(known("generic-x86-16c")) == {}


def test_thresholds_name_gpus_of_the_catalog_and_expect_more_than_they_demand() -> None:
    for row in thresholds():
        assert row.gpu in gpu_models()
        assert row.expect is None or row.expect > row.fail
        assert (row.least_gbps is not None) == (row.scope == "fabric")
    keys = [(row.gpu, row.scope) for row in thresholds()]
    assert keys == sorted(set(keys))


def test_the_rows_that_fail_good_hardware_are_left_out() -> None:
    """awsome-distributed-training's minimums between nodes (300, 800, 900) are above what works."""
    bounds = {(row.gpu, row.least_gbps): row.fail for row in thresholds() if row.scope == "fabric"}
    assert threshold(known("p4d.24xlarge"), "fabric") is None
    assert all(fail < 600 for (_, gbps), fail in bounds.items() if gbps <= 3200)
    assert all(fail * 8 < gbps for (_, gbps), fail in bounds.items()), "more than the cards can carry"


@pytest.mark.parametrize("name", HEALTHY_FIGURES)
def test_a_healthy_system_passes_its_threshold(name: str) -> None:
    bound = threshold(known(name), "fabric")
    assert bound is None or bound.fail <= HEALTHY_FIGURES[name]


def test_a_smaller_network_or_half_a_node_has_no_bound() -> None:
    general = known("hgx-h100-8gpu")
    assert threshold(general, "fabric") and threshold(general, "node")
    slow = replace(general, nics=tuple(replace(nic, gbps=100) for nic in general.nics))
    assert threshold(slow, "fabric") is None
    assert threshold(replace(general, gpus=general.gpus[:4]), "node") is None


def test_every_machine_type_can_be_asked() -> None:
    for row in machines().values():
        assert isinstance(expected(row), dict)
        assert threshold(row, "node") is None or row.gpus
