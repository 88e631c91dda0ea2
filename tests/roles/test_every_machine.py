"""Every machine type of the catalog can be had: solved, planned, rendered, a node of it described whole."""

from __future__ import annotations

import pytest

from clusterwright.bundle.packages import managed
from clusterwright.catalog.machines import machines

from . import solved

_OFFERED = ("aws", "gcp", "onprem")
MACHINES = sorted(name for name, row in machines().items() if row.provider in _OFFERED)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_node_gets_every_package_of_its_lock(machine: str) -> None:
    made = solved.handoff(machine, "ubuntu-24.04", provider=machines()[machine].provider)
    node = solved.compute(made)
    asked = {package.partition("=")[0] for package in solved.wanted(made).kind.packages}
    stack = made.software["stacks"].get(node.pool, {})
    assert {package for row in stack.values() for package in managed(row)} <= asked
    assert all(managed(row) or "nccl-tests" in row["packages"] for row in stack.values())
    assert bool(stack) is bool(machines()[machine].gpus)
