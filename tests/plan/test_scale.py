"""The core's half of the bars: 1,000 nodes in half a second, 65,000 in twenty, linear in between."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from clusterwright.checks import check
from clusterwright.handoff import Handoff, from_plan
from clusterwright.plan import plan
from clusterwright.spec.cluster import ClusterSpec


def described(nodes: int) -> ClusterSpec:
    pools = {
        "head": {"roles": "controller", "machine": "m7i.4xlarge"},
        "files": {"roles": ["storage", "login"], "machine": "m7i.4xlarge"},
        "gpu": {
            "roles": "compute",
            "machine": "lab-h100",
            "count": nodes,
            "racks": {"nodes_per_rack": 4},
        },
    }
    body = {"cluster": "scale", "site": {"provider": "lab", "network": "10.0.0.0/8"}, "pools": pools}
    return ClusterSpec.model_validate(body | {"fabric": {"topology": "tree", "nodes_per_leaf": 32}})


def made(nodes: int) -> Handoff:
    spec = described(nodes)
    assert check(spec) == []
    return from_plan(plan(spec))


@pytest.mark.parametrize(("nodes", "bar"), [(1_000, 0.25), (10_000, 1.5), (65_000, 10.0)])
def test_time(nodes: int, bar: float) -> None:
    start = time.process_time()
    handoff = made(nodes)
    assert time.process_time() - start < bar
    assert len(handoff.nodes) == nodes + 2


def test_memory() -> None:
    tracemalloc.start()
    made(10_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 256 * 2**20
