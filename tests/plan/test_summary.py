"""A plan in figures."""

from __future__ import annotations

import json
from pathlib import Path

from clusterwright.plan import plan
from clusterwright.plan.summary import Cards, Summary, summary
from clusterwright.spec.load import load

CLUSTERS = Path(__file__).parents[2] / "clusters"


def figures(example: str) -> Summary:
    return summary(plan(load(CLUSTERS / f"{example}.yaml").spec))


def test_own_machines_in_racks() -> None:
    whole = figures("onprem-hgx-h100")
    gpu = whole.pools[-1]
    assert (gpu.nodes, gpu.names, gpu.gpus, gpu.gpu_type) == (32, "gpu[001-032]", 256, "h100")
    assert gpu.cards == (Cards("ethernet", 100, 1), Cards("infiniband", 400, 8))
    assert gpu.watts == 32 * 10_200
    assert whole.gpus == 256
    assert whole.watts == sum(pool.watts or 0 for pool in whole.pools)
    assert whole.nodes_of_unknown_watts == 0
    assert (whole.racks, whole.leaves, whole.blocks) == (8, 4, 0)
    assert (whole.cpus, whole.memory_mib) == (32 * 224, 32 * 2 * 1024 * 1024)


def test_what_nobody_knows_is_not_counted_as_nothing() -> None:
    whole = figures("aws-p5")
    assert whole.nodes_of_unknown_watts == whole.nodes
    assert {pool.watts for pool in whole.pools} == {None}
    assert whole.watts == 0


def test_blocks_are_counted() -> None:
    assert figures("gb200-nvl72").blocks == figures("gb200-nvl72").gpus // 72


def test_figures_speak_json() -> None:
    body = json.loads(json.dumps(figures("lab").as_json()))
    assert body["pools"][2]["cards"] == [
        {"count": 1, "gbps": 100, "kind": "ethernet"},
        {"count": 8, "gbps": 400, "kind": "infiniband"},
    ]
