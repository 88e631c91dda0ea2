"""The gate on backups: what the controller's program says, and what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest

from clusterwright.accept.backup import judge, takes_backups
from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.spec.load import loads

TEXT = """
cluster: small
site: {provider: onprem}
pools:
  head: {roles: [controller, login], machine: generic-x86-16c}
  work: {roles: compute, machine: generic-x86-16c, count: 2}
"""
HANDOFF = from_plan(plan(loads(TEXT + "scheduler: {backup: {folder: /backups}}\n").spec))
HEAD = HANDOFF.by_name["head"]


def told(**changes: Any) -> dict[str, Any]:
    rows = [{"name": "a", "whole": True, "taken": "2026-11-22T17:00:00Z"}, {"name": "b", "whole": False}]
    plain = {"folder": "/backups/small", "every": 3600, "hold": "", "why": "", "late": False, "problem": ""}
    return {**plain, "backups": rows, **changes}


@pytest.mark.parametrize(
    ("changes", "status", "seen"),
    [
        ({}, "pass", "the last one is of 2026-11-22T17:00:00Z"),
        ({"backups": []}, "pass", "none yet"),
        ({"late": True}, "fail", "the last one is of 2026-11-22T17:00:00Z"),
        ({"late": True, "problem": "/backups is not mounted"}, "fail", "/backups is not mounted"),
        ({"hold": "waiting", "why": "an empty disk"}, "fail", "slurmctld does not start: an empty disk"),
    ],
)
def test_only_a_recent_backup_passes(changes: dict[str, Any], status: str, seen: str) -> None:
    gate = judge(HEAD, told(**changes))
    assert (gate.status, gate.seen) == (status, seen)


def test_it_is_asked_of_the_controller_of_a_cluster_that_takes_backups() -> None:
    assert takes_backups(HANDOFF, HEAD)
    assert not takes_backups(HANDOFF, HANDOFF.by_name["work-001"])
    plain = from_plan(plan(loads(TEXT).spec))
    assert not takes_backups(plain, plain.by_name["head"])
