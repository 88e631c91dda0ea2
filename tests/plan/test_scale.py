"""The core's half of the bars: 1,000 nodes in half a second, 65,000 in twenty, linear in between."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from bench.core import HALL

from clusterwright.checks import check
from clusterwright.handoff import Handoff, from_plan
from clusterwright.plan import plan
from clusterwright.plan.floor.drawing import svg
from clusterwright.plan.outline import Outline
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import loads
from clusterwright.spec.machines import parse_machines
from clusterwright.spec.site import OnpremSite


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


def test_ten_thousand_described_machines_are_planned_and_drawn() -> None:
    loaded = loads(HALL)
    nodes = [f"gpu-{n:03d}" for n in range(1, 10_001)]
    lines = (f"{node},0c42a1{n:06x},10.65.{n >> 8}.{n & 255}" for n, node in enumerate(nodes))
    file, findings = parse_machines("\n".join(["node,mac,address", *lines]), "hall.csv")
    assert isinstance(loaded.spec.site, OnpremSite) and findings == []
    loaded.spec.site.know(file)
    assert {finding.code for finding in check(loaded.spec)} == {"CW1276", "CW1640"}
    assert len(from_plan(plan(loaded.spec)).machines) == 10_000
    assert len(svg(Outline(loaded.spec, {}).floors, "hall")) > 10_000
