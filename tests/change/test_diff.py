"""What a change of a description costs, node by node. One case per file in `cases/`.

A case changes `base.yaml` (a mapping merges, null removes) and lists what `diff` says of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from clusterwright.catalog.changes import Impact
from clusterwright.change import Change, diff, impact_by_node
from clusterwright.handoff import Handoff, from_plan
from clusterwright.plan import plan
from clusterwright.render import render
from clusterwright.render.file import NodeFile
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.nodeset import fold

HERE = Path(__file__).parent
BASE: dict[str, Any] = yaml.safe_load((HERE / "base.yaml").read_text())
CASES = sorted((HERE / "cases").glob("*.yaml"))


def merged(base: Any, change: Any) -> Any:
    if not (isinstance(base, dict) and isinstance(change, dict)):
        return change
    both = {**base, **{key: merged(base.get(key), value) for key, value in change.items()}}
    return {key: value for key, value in both.items() if value is not None}


def made(body: dict[str, Any], previous: Handoff | None = None) -> tuple[Handoff, tuple[NodeFile, ...]]:
    known = {node.name: node.address for node in previous.nodes} if previous else {}
    handoff = from_plan(plan(ClusterSpec.model_validate(body), previous=known))
    return handoff, render(handoff)


def changes(body: dict[str, Any], start: dict[str, Any] = BASE) -> list[Change]:
    old, old_files = made(start)
    new, new_files = made(body, old)
    return diff(old, new, old_files, new_files)


def line(change: Change) -> str:
    units = f" of {' '.join(change.units)}" if change.units else ""
    return f"{change.what} {change.path} on {fold(change.nodes)}: {change.impact.value}{units}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_change_is_classed(case: Path) -> None:
    body = yaml.safe_load(case.read_text())
    start = merged(BASE, body.get("from", {}))
    found = [line(change) for change in changes(merged(start, body["change"]), start)]
    assert found == body["expected"]


def test_nothing_changed_is_nothing_said() -> None:
    assert changes(BASE) == []


def test_a_first_hand_off_adds_every_node() -> None:
    new, files = made(BASE)
    (change,) = diff(None, new, (), files)
    assert (change.what, change.impact) == ("added", Impact.LIVE)
    assert change.nodes == tuple(node.name for node in new.nodes)


def test_the_heaviest_change_of_a_node_counts() -> None:
    body = merged(BASE, {"pools": {"gpu": {"count": 3, "features": ["fast"]}}, "scheduler": {"rest": True}})
    impacts = impact_by_node(changes(body))
    assert impacts == {
        "head": Impact.DAEMON_RESTART,
        "gpu-001": Impact.LIVE,
        "gpu-002": Impact.LIVE,
        "gpu-003": Impact.LIVE,
    } | {name: Impact.LIVE for name in impacts if name == "front"}
    assert not impacts["head"].disturbs_jobs


def test_changes_speak_json() -> None:
    (change, *_) = changes(merged(BASE, {"pools": {"gpu": {"count": 1}}}))
    assert change.as_json() == {
        "nodes": ["gpu-002"],
        "what": "removed",
        "path": "node",
        "impact": "drain",
        "units": [],
    }
