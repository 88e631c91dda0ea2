"""Which playbooks of a push run on which nodes, and when; the nodes and Ansible answer by their stand-ins."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from clusterwright.converge.result import NodeResult
from clusterwright.converge.runner import Run
from clusterwright.converge.target import Target
from clusterwright.converge.verify import Verified
from clusterwright.handoff import from_plan
from clusterwright.operate import configure as module
from clusterwright.operate.configure import configure
from clusterwright.operate.desired import Desired
from clusterwright.operate.home import ClusterHome
from clusterwright.plan import plan
from clusterwright.spec.load import loads

DESCRIPTION = """
cluster: grows
site: {provider: onprem, network: 10.9.0.0/24}
pools:
  controller: {roles: [controller, storage], machine: generic-x86-16c}
  work: {roles: compute, machine: generic-x86-16c, count: 2}
hooks:
  - {at: after-configure, run: motd.sh, pools: work}
"""
CONTROLLER, KNOWN, NEW = "controller", "work-001", "work-002"
AS_WANTED = Verified("wanted", digest="wanted")
DIFFERS = Verified("wanted", digest="before", drift=("slurm.conf differs",))
WITHOUT_ANYTHING = Verified("wanted", packages={"slurmd": ""})

Played = list[tuple[str, tuple[str, ...]]]


def played(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    seen: Mapping[str, Verified],
    *,
    full: bool = False,
    fails: Collection[tuple[str, str]] = (),
) -> tuple[Played, Mapping[str, NodeResult]]:
    """Playbooks with their nodes, in their order, and what `configure` says of each node."""
    steps: Played = []

    def play(
        _run: Run, playbook: str, _inventory: Path, nodes: Collection[str], _extra: object = None
    ) -> Mapping[str, NodeResult]:
        name = playbook.rpartition(".")[2]
        steps.append((name, tuple(sorted(nodes))))
        return {node: NodeResult("failed" if (name, node) in fails else "changed") for node in nodes}

    monkeypatch.setattr(Run, "play", play)
    monkeypatch.setattr(module, "verify", lambda *_: seen)
    (tmp_path / "motd.sh").write_text("#!/bin/sh\n")
    handoff = from_plan(plan(loads(DESCRIPTION).spec))
    desired = Desired(ClusterHome("grows", tmp_path), handoff, (), tmp_path)
    key, known = tmp_path / "key", tmp_path / "known_hosts"
    targets = {name: Target(name, "10.9.0.1", 22, "root", key, known) for name in seen}
    return steps, configure(desired, targets, lambda _event: None, full=full)


def test_a_new_node_starts_its_daemons_when_its_controller_knows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {CONTROLLER: DIFFERS, KNOWN: AS_WANTED, NEW: WITHOUT_ANYTHING}
    steps, results = played(tmp_path, monkeypatch, seen)
    assert steps == [("install", (NEW,)), ("configure", (CONTROLLER, NEW)), ("hook", (NEW,))]
    assert {name: result.status for name, result in results.items()} == {
        CONTROLLER: "changed",
        KNOWN: "ok",
        NEW: "changed",
    }


def test_nodes_that_are_all_new_take_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, _ = played(tmp_path, monkeypatch, dict.fromkeys((CONTROLLER, NEW), WITHOUT_ANYTHING))
    assert steps == [("site", (CONTROLLER, NEW)), ("hook", (NEW,))]


def test_no_package_manager_where_no_package_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps, _ = played(tmp_path, monkeypatch, dict.fromkeys((CONTROLLER, KNOWN), DIFFERS))
    assert steps == [("configure", (CONTROLLER, KNOWN)), ("hook", (KNOWN,))]
    steps, _ = played(tmp_path, monkeypatch, dict.fromkeys((CONTROLLER, KNOWN), DIFFERS), full=True)
    assert steps == [("site", (CONTROLLER, KNOWN)), ("hook", (KNOWN,))]


def test_a_node_that_could_not_be_installed_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {CONTROLLER: DIFFERS, NEW: WITHOUT_ANYTHING}
    steps, results = played(tmp_path, monkeypatch, seen, fails=[("install", NEW)])
    assert steps == [("install", (NEW,)), ("configure", (CONTROLLER,))]
    assert results[NEW].status == "failed"
    assert results[CONTROLLER].status == "changed"
