"""In which order a change goes through a cluster."""

from __future__ import annotations

from dataclasses import replace

from clusterwright.change import batches, diff, in_turn
from clusterwright.handoff import Handoff, from_plan
from clusterwright.plan import plan
from clusterwright.spec.load import loads

from .test_stacks import locked

TEXT = """
cluster: rolled
site: {provider: lab}
pools:
  old: {roles: compute, machine: lab-h100, count: 3}
  controller: {roles: controller, machine: lab-small}
  new: {roles: compute, machine: lab-h100, count: 4}
  login: {roles: login, machine: lab-small, count: 2}
storage: {shares: {/home: {size: 10 GiB}}}
"""


def handoff(text: str = TEXT) -> Handoff:
    return from_plan(plan(loads(text).spec))


def turns(size: int, *last: str) -> list[str]:
    here = handoff()
    found = batches(here, set(here.by_name), size, last)
    return [",".join(batch.nodes) + (" first" if batch.canary else "") for batch in found]


def test_a_pool_s_first_node_goes_alone_and_compute_nodes_go_last() -> None:
    assert turns(2) == [
        "controller first",
        "login-001 first",
        "login-002",
        "old-001 first",
        "old-002,old-003",
        "new-001 first",
        "new-002,new-003",
        "new-004",
    ]


def test_nodes_that_do_not_answer_are_no_canaries() -> None:
    assert turns(4, "new-001", "old-001")[-4:] == [
        "old-002 first",
        "old-003,old-001",
        "new-002 first",
        "new-003,new-004,new-001",
    ]


def with_driver(version: str) -> Handoff:
    here = handoff()
    return replace(here, software={**here.software, "stacks": {"new": {"driver": locked(version)}}})


def test_only_what_a_node_has_for_itself_is_rolled() -> None:
    driver = diff(with_driver("580.95.05"), with_driver("595.91.07"))
    assert sorted(in_turn(driver)) == ["new-001", "new-002", "new-003", "new-004"]
    machine = diff(handoff(), handoff(TEXT.replace("lab-h100, count: 3", "lab-small, count: 3")))
    assert {"old-001"} <= {node for change in machine for node in change.nodes}
    assert in_turn(machine) == {}
