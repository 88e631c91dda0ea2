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


def made(body: dict[str, Any], previous: Handoff | None = None) -> Handoff:
    known = {node.name: node.address for node in previous.nodes} if previous else {}
    return from_plan(plan(ClusterSpec.model_validate(body), previous=known))


def changes(body: dict[str, Any], start: dict[str, Any] = BASE) -> list[Change]:
    old = made(start)
    return diff(old, made(body, old))


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
    new = made(BASE)
    (change,) = diff(None, new, (), render(new))
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
    }
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


def file(path: str, content: str, *affects: str, roles: tuple[str, ...] = ("controller",)) -> NodeFile:
    return NodeFile(path, content, roles, affects=affects)


def test_files_say_which_daemon_has_to_know_and_on_which_nodes() -> None:
    handoff = made(BASE)
    before = [
        file("/etc/slurm/slurm.conf", "a", "slurmctld:reload", roles=("controller", "login")),
        file("/etc/slurm/slurmdbd.conf", "a", "slurmdbd:restart"),
        file("/etc/default/slurmd", "a", "slurmd:restart", roles=("compute",)),
        file("/etc/hosts", "a", roles=("controller", "login", "compute")),
        file("/etc/motd", "a"),
    ]
    after = [
        file("/etc/slurm/slurm.conf", "b", "slurmctld:reload", roles=("controller", "login")),
        file("/etc/slurm/slurmdbd.conf", "b", "slurmdbd:restart"),
        file("/etc/default/slurmd", "a", "slurmd:restart", roles=("compute",)),
        file("/etc/hosts", "b", roles=("controller", "login", "compute")),
        file("/etc/issue", "a"),
    ]
    assert [line(change) for change in diff(handoff, handoff, before, after)] == [
        "changed /etc/slurm/slurmdbd.conf on head: daemon-restart of slurmdbd",
        "changed /etc/hosts on front,gpu-[001-002],head: live",
        "added /etc/issue on head: live",
        "removed /etc/motd on head: live",
        "changed /etc/slurm/slurm.conf on front,head: live",
    ]


def test_a_node_more_restarts_slurmctld_only_where_it_cannot_read_again() -> None:
    for distribution, units in (("debian-12", ("slurmctld",)), ("debian-13", ())):
        old = made(merged(BASE, {"software": {"distribution": distribution}}))
        new = made(
            merged(BASE, {"software": {"distribution": distribution}, "pools": {"gpu": {"count": 3}}}), old
        )
        found = {change.path: change for change in diff(old, new, render(old), render(new))}
        assert found["/etc/slurm/slurm.conf"].units == units
        assert found["node"].impact is Impact.LIVE
