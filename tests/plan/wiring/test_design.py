"""Fabrics against published ones, and what holds for every fabric."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterwright.plan.outline import Outline
from clusterwright.plan.wiring import Unbuildable, Wiring, wiring
from clusterwright.spec.cluster import ClusterSpec

B200 = "docs.nvidia.com, DGX SuperPOD B200 reference architecture, Larger SuperPOD component counts"
XDR = "docs.nvidia.com, DGX SuperPOD B300 XDR reference architecture, Example Compute Fabric Component Counts"
PUBLISHED = [
    (B200, "qm9700", 64, (16, 8, 0), (512, 512, 0)),
    (B200, "qm9700", 128, (32, 16, 0), (1024, 1024, 0)),
    (B200, "qm9700", 256, (64, 32, 0), (2048, 2048, 0)),
    (B200, "qm9700", 512, (128, 128, 64), (4096, 4096, 4096)),
    (B200, "qm9700", 1024, (256, 256, 128), (8192, 8192, 8192)),
    (B200, "qm9700", 2048, (512, 512, 256), (16384, 16384, 16384)),
    (XDR, "q3400-ra", 72, (8, 4, 0), (576, 576, 0)),
    (XDR, "q3400-ra", 144, (16, 8, 0), (1152, 1152, 0)),
    (XDR, "q3400-ra", 288, (32, 18, 0), (2304, 2304, 0)),
    (XDR, "q3400-ra", 576, (64, 36, 0), (4608, 4608, 0)),
    (XDR, "q3400-ra", 1296, (144, 72, 0), (10368, 10368, 0)),
]
"""Source, switch, nodes of eight cards; leaves, spines and cores; cables below each."""
LEVELS = ("leaf", "spine", "core")


def made(nodes: int, machine: str = "hgx-b200-8gpu", per_leaf: int | None = None, **switches: Any) -> Wiring:
    pools = {"head": {"roles": ["controller"], "machine": "generic-x86-16c"}}
    pools["gpu"] = {"roles": ["compute"], "machine": machine, "count": nodes}
    fabric = {"topology": "tree", "nodes_per_leaf": per_leaf, "switches": switches}
    body = {"cluster": "made", "site": {"provider": "onprem"}, "pools": pools, "fabric": fabric}
    found = wiring(Outline(ClusterSpec.model_validate(body), {}))
    assert found is not None
    return found


@pytest.mark.parametrize(("source", "model", "nodes", "switches", "cables"), PUBLISHED)
def test_published_fabrics_come_out_as_published(
    source: str, model: str, nodes: int, switches: tuple[int, ...], cables: tuple[int, ...]
) -> None:
    fabric = made(nodes, model=model)
    counted = Counter(switch.level for switch in fabric.switches)
    below = Counter(fabric.by_name[cable.upper.device].level for cable in fabric.cables)
    assert tuple(counted[level] for level in LEVELS) == switches, source
    assert tuple(below[level] for level in LEVELS) == cables, source
    assert fabric.design.ratio <= 1


FABRICS = st.fixed_dictionaries(
    {
        "nodes": st.integers(1, 300),
        "machine": st.sampled_from(["hgx-h100-8gpu", "gb200-nvl72-tray"]),
        "model": st.sampled_from(["qm8700", "qm9700", "q3400-ra"]),
        "design": st.sampled_from(["rail-optimized", "fat-tree"]),
        "oversubscription": st.sampled_from([1, 1.5, 2, 4]),
        "per_leaf": st.one_of(st.none(), st.integers(1, 20)),
    }
)


@settings(max_examples=60, deadline=None)
@given(FABRICS)
def test_no_port_has_two_cables_and_links_are_even(wanted: dict[str, Any]) -> None:
    try:
        fabric = made(**wanted)
    except Unbuildable:
        return
    ends = Counter((end.device, end.port) for cable in fabric.cables for end in (cable.lower, cable.upper))
    assert max(ends.values()) == 1
    ports = {name: switch.model.ports for name, switch in fabric.by_name.items()}
    assert all(1 <= port <= ports.get(device, port) for device, port in ends)
    _every_card_once(fabric, wanted["nodes"])
    _leaves_reach_their_spines_evenly(fabric)
    assert fabric.design.ratio <= wanted["oversubscription"] * 1.001


def _every_card_once(fabric: Wiring, nodes: int) -> None:
    rails = fabric.design.pools[0].rails
    cards = Counter(cable.lower.device for cable in fabric.cables if cable.lower.card)
    assert cards == dict.fromkeys(fabric.nodes, rails) and len(cards) == nodes


def _leaves_reach_their_spines_evenly(fabric: Wiring) -> None:
    pairs = Counter((c.lower.device, c.upper.device) for c in fabric.cables if not c.lower.card)
    for level in ("leaf", "spine"):
        links = {n for (lower, _), n in pairs.items() if fabric.by_name[lower].level == level}
        assert len(links) <= 1


def test_a_rail_has_its_own_leaf_in_each_unit() -> None:
    fabric = made(64, model="qm9700")
    units = {
        (fabric.units[cable.lower.device], cable.lower.port): cable.upper.device
        for cable in fabric.cables
        if cable.lower.card
    }
    assert len(set(units.values())) == len(units) == 16


def test_a_pool_that_grows_within_its_size_moves_no_cable() -> None:
    before, after = (set(made(nodes, model="qm9700", sized_for=128).cables) for nodes in (40, 41))
    assert before < after and len(after - before) == 8


@pytest.mark.parametrize(
    ("nodes", "switches", "field"),
    [(16, {"model": "none"}, "switches.model"), (9000, {"model": "qm9700"}, "switches")],
)
def test_what_cannot_be_built_says_which_field(nodes: int, switches: dict[str, Any], field: str) -> None:
    with pytest.raises(Unbuildable) as told:
        made(nodes, **switches)
    assert told.value.field == field
