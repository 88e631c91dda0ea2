"""What jobs are told of the network: the data itself."""

from __future__ import annotations

import re
from fnmatch import fnmatch

import pytest

from clusterwright.catalog.fabrics import Fabric, fabric_of, fabrics, settings
from clusterwright.catalog.machines import machines
from clusterwright.catalog.software import components
from clusterwright.plan.software.traits import traits

KNOWN_TRAITS = frozenset().union(*(traits(hardware) for hardware in machines().values()))


@pytest.mark.parametrize("fabric", fabrics(), ids=lambda fabric: fabric.name)
def test_a_fabric_speaks_of_what_exists(fabric: Fabric) -> None:
    assert fabric.source
    assert re.fullmatch(r"\d{4}-\d{2}", fabric.date)
    assert not fabric.trait or fabric.trait in KNOWN_TRAITS
    assert not fabric.component or fabric.component in components()
    assert not fabric.script or fabric.library


def test_the_last_fabric_takes_every_machine() -> None:
    assert (fabrics()[-1].trait, fabrics()[-1].component) == ("", "")
    assert all(fabric.trait for fabric in fabrics()[:-1])


def test_settings_are_whole_sorted_and_said_once() -> None:
    names = {"any", *(fabric.name for fabric in fabrics())}
    keys = [(row.fabric, row.trait, row.use, row.name) for row in settings()]
    assert len(keys) == len(set(keys))
    for row in settings():
        assert row.fabric in names
        assert row.use in ("set", "container", "never")
        assert row.why
        assert row.source
        assert re.fullmatch(r"\d{4}-\d{2}", row.date)
        assert (row.use == "never") != bool(row.value), row
        assert not row.trait or row.trait in KNOWN_TRAITS


def test_no_fabric_sets_what_it_says_never_to_set() -> None:
    never = {(row.fabric, row.name) for row in settings() if row.use == "never"}
    assert {pattern for _fabric, pattern in never} >= {"RDMAV_*", "NCCL_PROTO", "FI_EFA_USE_DEVICE_RDMA"}
    for fabric in fabrics():
        patterns = [pattern for name, pattern in never if name in (fabric.name, "any")]
        for name in fabric.settings(KNOWN_TRAITS, "set", "container"):
            assert not [pattern for pattern in patterns if fnmatch(name, pattern)], (fabric.name, name)


@pytest.mark.parametrize(
    ("machine", "components", "name", "net"),
    [
        ("hgx-h100-8gpu", {"driver", "nccl"}, "infiniband", "IB"),
        ("p5.48xlarge", {"driver", "nccl", "efa"}, "efa", "Libfabric"),
        ("p5.48xlarge", {"driver", "nccl"}, "ethernet", None),
        ("a3-megagpu-8g", {"nccl", "tcpxo"}, "tcpxo", "FasTrak"),
        ("a3-ultragpu-8g", {"nccl", "gib"}, "gib", "gIB"),
        ("a3-ultragpu-8g", {"nccl"}, "roce", "IB"),
        ("mi300x-8gpu", {"rccl"}, "infiniband", "IB"),
        ("mi300x-8gpu-roce", {"rccl"}, "roce", "IB"),
        ("rtx4090-workstation", {"nccl"}, "ethernet", None),
    ],
)
def test_the_fabric_of_a_machine(machine: str, components: set[str], name: str, net: str | None) -> None:
    has = traits(machines()[machine])
    fabric = fabric_of(has, components)
    assert fabric.name == name
    assert fabric.settings(has, "set").get("NCCL_NET") == net
