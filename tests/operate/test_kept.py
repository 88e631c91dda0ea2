"""Without a lock beside the description, what a cluster has is what it keeps."""

from __future__ import annotations

from pathlib import Path

from clusterwright.handoff import Handoff, from_plan, loads
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import Source
from clusterwright.plan import plan
from clusterwright.plan.software import beside
from clusterwright.spec.load import load

TEXT = """
cluster: kept
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
"""
OLDER = "595.58.03"


def applied(file: Path) -> Handoff:
    """As a catalog that knew no newer driver had made it."""
    file.write_text(TEXT + f"software: {{versions: {{driver: {OLDER}}}}}\n")
    description = described(Source(file))
    made = from_plan(plan(load(file).spec, lock=description.lock))
    return loads(made.dumps(), "applied")


def test_what_runs_stays_and_is_told(tmp_path: Path) -> None:
    file = tmp_path / "kept.yaml"
    before = applied(file)
    file.write_text(TEXT)
    fresh = prepare(described(Source(file))).handoff.software["stacks"]["gpu"]["driver"]["version"]
    assert fresh != OLDER
    prepared = prepare(described(Source(file)).over(before))
    assert prepared.handoff.software["stacks"]["gpu"]["driver"]["version"] == OLDER
    [note] = [finding for finding in prepared.findings if finding.code == "CW8040"]
    assert f"driver {OLDER}" in note.what and fresh in note.what
    assert f"`clusterwright lock {file} --upgrade`" in note.remedy


def test_a_wish_moves_it_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "kept.yaml"
    before = applied(file)
    file.write_text(TEXT + "software: {versions: {driver: 595.91.07}}\n")
    prepared = prepare(described(Source(file)).over(before))
    assert prepared.handoff.software["stacks"]["gpu"]["driver"]["version"] == "595.91.07"


def test_a_lock_beside_it_says_what_is_wanted(tmp_path: Path) -> None:
    file = tmp_path / "kept.yaml"
    before = applied(file)
    file.write_text(TEXT)
    beside(file).write_text(described(Source(file)).lock.text())
    prepared = prepare(described(Source(file)).over(before))
    assert prepared.handoff.software["stacks"]["gpu"]["driver"]["version"] != OLDER
    assert not [finding for finding in prepared.findings if finding.code == "CW8040"]
