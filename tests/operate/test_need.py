"""What a node has before it, by what was applied and by what it says itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clusterwright.catalog.changes import Impact
from clusterwright.change import diff
from clusterwright.converge.verify import Verified
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate.need import Need, needs, refuse_to_lower
from clusterwright.plan import plan
from clusterwright.spec.load import loads

TEXT = """
cluster: needy
site: {provider: lab}
pools:
  controller: {roles: controller, machine: lab-small}
  gpu: {roles: compute, machine: lab-h100, count: 2}
"""
OLD, NEW, NEWEST = "580.95.05", "595.58.03", "595.91.07"


def with_driver(version: str, pinned: bool = True) -> Handoff:
    row: dict[str, Any] = {
        "version": version,
        "flavour": "open",
        "packages": {"nvidia-driver-cuda": f"{version}-1" if pinned else None},
        "services": [],
        "hold": [],
        "repository": "vendor",
    }
    handoff = from_plan(plan(loads(TEXT).spec))
    return replace(handoff, software={**handoff.software, "stacks": {"gpu": {"driver": row}}})


def says(version: str, wanted: str, *, booted: bool = True, newer: bool = False) -> Verified:
    """A node that has this driver and should have another, or the same."""
    other = {} if version == wanted else {"nvidia-driver-cuda": f"{version}-1"}
    return Verified(
        "new",
        "new" if not other else "old",
        tuple(f"package {name}" for name in other),
        other,
        tuple(other) if newer else (),
        () if booted else ("nvidia-driver-cuda",),
        {"driver": version},
    )


def found(before: str, after: str, seen: dict[str, Verified]) -> dict[str, Need]:
    was, now = with_driver(before), with_driver(after)
    return dict(needs(was, now, diff(was, now), seen))


def test_a_node_that_has_it_behind_it_needs_nothing() -> None:
    seen = {"gpu-001": says(NEW, NEW), "gpu-002": says(OLD, NEW)}
    left = found(OLD, NEW, seen)
    assert list(left) == ["gpu-002"]
    assert (left["gpu-002"].impact, left["gpu-002"].rollable) == (Impact.REBOOT, True)
    assert left["gpu-002"].words == f"driver {OLD} to {NEW}"


def test_what_is_installed_and_not_booted_yet_is_still_to_be_booted() -> None:
    """Killed between the two."""
    left = found(OLD, NEW, {"gpu-001": says(NEW, NEW, booted=False), "gpu-002": says(NEW, NEW)})
    assert [(name, need.impact) for name, need in left.items()] == [("gpu-001", Impact.REBOOT)]


def test_a_package_that_was_put_back_asks_for_no_boot() -> None:
    assert found(NEW, NEW, {"gpu-001": says(NEW, NEW, booted=False)}) == {}
    missing = replace(says(NEW, NEW), digest="old", packages={"nvidia-driver-cuda": ""})
    assert found(NEW, NEW, {"gpu-001": missing}) == {}


def test_of_a_node_that_says_nothing_history_is_believed() -> None:
    silent = Verified("new", unreachable="No route to host")
    assert list(found(OLD, NEW, {"gpu-001": silent})) == ["gpu-001", "gpu-002"]


def test_going_back_in_the_middle_lowers_only_what_has_moved() -> None:
    left = found(OLD, OLD, {"gpu-001": says(NEW, OLD, newer=True), "gpu-002": says(OLD, OLD)})
    assert [(name, need.impact, need.words) for name, need in left.items()] == [
        ("gpu-001", Impact.REPLACE, f"driver {NEW} to {OLD}")
    ]


def test_another_wish_in_the_middle_lowers_only_what_went_further() -> None:
    left = found(OLD, NEW, {"gpu-001": says(NEWEST, NEW, newer=True), "gpu-002": says(OLD, NEW)})
    assert {name: need.impact for name, need in left.items()} == {
        "gpu-001": Impact.REPLACE,
        "gpu-002": Impact.REBOOT,
    }


def test_going_down_is_refused_with_the_reason_and_both_ways_out() -> None:
    left = found(NEW, OLD, {name: says(NEW, OLD, newer=True) for name in ("gpu-001", "gpu-002")})
    with pytest.raises(Refused) as refused:
        refuse_to_lower(with_driver(OLD), left, anew=())
    [finding] = refused.value.findings
    assert finding.code == "CW8017"
    assert f"gpu-[001-002] would go down: driver {NEW} to {OLD}. dpkg(1):" in finding.what
    assert f"`versions: {{driver: {NEW}}}`" in finding.remedy
    assert "`clusterwright up needy --rebuild gpu`" in finding.remedy
    refuse_to_lower(with_driver(OLD), left, anew=("gpu-001", "gpu-002"))


def test_a_version_that_no_source_tells_is_known_by_history_alone() -> None:
    was, now = with_driver(OLD, pinned=False), with_driver(NEW, pinned=False)
    changes = diff(was, now)
    done, other = Verified("new", "new"), Verified("new", "old")
    assert list(needs(was, now, changes, {"gpu-001": done, "gpu-002": other})) == ["gpu-002"]
