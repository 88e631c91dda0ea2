"""Groups: machines get the names that are planned, each once, whatever is killed between, and keep them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from clusterwright.checks.live.answer import Unanswered
from clusterwright.event import Event
from clusterwright.finding import Refused
from clusterwright.handoff import Handoff
from clusterwright.operate.pull.crowds import Groups
from clusterwright.operate.pull.members import Named, name_members
from clusterwright.operate.pull.signing import Signing
from clusterwright.operate.pull.store import Store
from clusterwright.plan import plan
from clusterwright.providers.asking import NoAnswer
from clusterwright.providers.member import Member
from clusterwright.spec.load import loads

from .crowd import POOL, Called, Crowd, grown, handoff, named
from .world import World


def test_every_node_gets_a_machine_and_its_address(world: World) -> None:
    found = named(world, grown(3), 3)
    assert found.machines == {"gpu-001": "i-0001", "gpu-002": "i-0002", "gpu-003": "i-0003"}
    filled = handoff(3).at(found.addresses)
    assert [node.address for node in filled.nodes][1:] == ["10.9.7.1", "10.9.7.2", "10.9.7.3"]
    assert filled.nodes[0] == handoff(3).nodes[0], "planned nodes stay where they are"


def test_names_stay_and_a_freed_one_goes_to_the_next_machine(world: World) -> None:
    crowd = grown(3)
    named(world, crowd, 3)
    crowd.end(POOL["gpu"], ["i-0002"])
    assert named(world, crowd, 3).machines == {
        "gpu-001": "i-0001",
        "gpu-002": "i-0004",
        "gpu-003": "i-0003",
    }
    assert world.store.named() == {"i-0001", "i-0003", "i-0004"}, "a machine that is gone leaves no name"


def test_a_machine_outside_the_nodes_network_gets_no_name(world: World) -> None:
    """AWS gives any free address of the group's subnet, and the description may know a part of it only."""
    crowd = grown(3)
    crowd.there["i-0002"] = "10.10.0.7"
    with pytest.raises(Refused, match=r"i-0002: CW8154 its cloud gave it 10\.10\.0\.7, .* 10\.9\.0\.0/16"):
        named(world, crowd, 3)
    assert world.store.named() == set()


def test_one_node_more_is_one_name_more(world: World) -> None:
    crowd = grown(2)
    before = named(world, crowd, 2).machines
    crowd.size = 3
    crowd.grow()
    assert named(world, crowd, 3).machines == {**before, "gpu-003": "i-0003"}


def test_a_smaller_group_ends_those_whose_names_are_gone(world: World) -> None:
    """And no other, though the cloud would have taken any."""
    crowd, said = grown(4), list[Event]()
    named(world, crowd, 4)
    crowd.size = 2
    assert sorted(named(world, crowd, 2, said).machines) == ["gpu-001", "gpu-002"]
    assert sorted(crowd.there) == ["i-0001", "i-0002"]
    assert [event.node for event in said if event.status == "changed"] == ["i-0004", "i-0003"]


def test_another_name_of_all_nodes_ends_no_machine(world: World) -> None:
    crowd = grown(2)
    named(world, crowd, 2)
    renamed = handoff(2)
    nodes = tuple(
        node if node.pool != "gpu" else type(node)(**{**_row(node), "name": f"x{node.name}"})
        for node in renamed.nodes
    )
    other = Handoff(**{**_whole(renamed), "nodes": nodes})
    groups = Groups(POOL, crowd, patience=0.0, pause=0.0)
    with pytest.raises(Refused, match="i-0001, i-0002 have names that are not planned"):
        name_members(groups, other, world.store, Signing.of(world.home), lambda _: None)
    assert sorted(crowd.there) == ["i-0001", "i-0002"]


def _row(node: object) -> dict[str, object]:
    return {name: getattr(node, name) for name in type(node).__slots__}


def _whole(of: Handoff) -> dict[str, object]:
    return {name: getattr(of, name) for name in Handoff.__dataclass_fields__}


def test_a_name_without_a_machine_is_refused_and_the_next_call_goes_on(world: World) -> None:
    crowd = grown(2)
    with pytest.raises(Refused) as refused:
        named(world, crowd, 4)
    assert [(one.code, one.where.path) for one in refused.value.findings] == [
        ("CW8151", "gpu-003"),
        ("CW8151", "gpu-004"),
    ]
    crowd.size = 4
    crowd.grow()
    assert named(world, crowd, 4).machines["gpu-001"] == "i-0001"


def test_killed_after_any_write_it_goes_on_with_the_same_names(world: World) -> None:
    class Killed(Exception):
        pass

    @dataclass(frozen=True)
    class Dying(Store):
        writes: list[int] = field(default_factory=list)
        alive: int = 0

        def give_name(self, machine: str, envelope: str) -> None:
            if len(self.writes) >= self.alive:
                raise Killed
            self.writes.append(1)
            super().give_name(machine, envelope)

    crowd, given = grown(4), dict[str, str]()
    groups, signing = Groups(POOL, crowd, 0.0, 0.0), Signing.of(world.home)
    for alive in (1, 0, 2):
        dying = Dying(world.store.shelf, world.store.url, alive=alive)
        with pytest.raises(Killed):
            name_members(groups, handoff(4), dying, signing, lambda _: None)
        now = {machine: json.loads(json.loads(world.store.name(machine))["signed"])["node"]
               for machine in world.store.named()}  # fmt: skip
        assert now.items() >= given.items()
        given = now
    machines = named(world, crowd, 4).machines
    assert {machine: node for node, machine in machines.items()}.items() >= given.items()
    assert sorted(machines) == [f"gpu-{number:03}" for number in range(1, 5)]


def test_a_missing_permission_is_named(world: World) -> None:
    class Silent(Crowd):
        def members(self, group: str) -> dict[str, Member]:
            raise NoAnswer(Unanswered("denied", "autoscaling:DescribeAutoScalingGroups", f"not {group}"))

    with pytest.raises(Refused) as refused:
        named(world, Silent(1), 1)
    [finding] = refused.value.findings
    assert finding.code == "CW8150"
    assert "autoscaling:DescribeAutoScalingGroups" in finding.remedy


PLANNED = {f"gpu-{number:03}": f"10.9.7.{number}" for number in range(1, 5)}


def called(world: World, crowd: Called, count: int, first: int = 1, patience: float = 60.0) -> Named:
    """Of the nodes from `first` on, whose group is one of a pool's."""
    nodes = f"gpu-[{first:03}-{count:03}]" if count > first else f"gpu-{first:03}"
    groups = Groups({nodes: "projects/p/zones/z/instanceGroupManagers/far-gpu-01"}, crowd, patience, 0.0)
    planned = handoff(count).at({name: PLANNED[name] for name in list(PLANNED)[:count]})
    return name_members(groups, planned, world.store, Signing.of(world.home), lambda _: None)


def test_members_that_are_made_by_name_are_these_nodes(world: World) -> None:
    crowd = Called()
    found = called(world, crowd, 3)
    assert crowd.nodes == {name: PLANNED[name] for name in ("gpu-001", "gpu-002", "gpu-003")}
    assert found.addresses == crowd.nodes
    assert {crowd.there[machine].node: node for node, machine in found.machines.items()} == {
        name: name for name in found.machines
    }
    assert world.store.named() == {"0001", "0002", "0003"}, "as each machine knows itself"
    assert called(world, crowd, 3) == found
    assert crowd.made == 3


def test_one_more_is_called_and_one_that_is_planned_no_more_is_ended(world: World) -> None:
    crowd = Called()
    before = called(world, crowd, 3).machines
    assert called(world, crowd, 4).machines.items() > before.items()
    assert crowd.made == 4
    assert sorted(called(world, crowd, 3, first=2).machines) == ["gpu-002", "gpu-003"]
    assert sorted(crowd.nodes) == ["gpu-002", "gpu-003"], "the first and the last went, and no other"
    assert crowd.made == 4


def test_one_with_another_address_than_planned_is_made_anew(world: World) -> None:
    crowd = Called({"projects/p/zones/z/instances/9": Member("10.9.6.6", "gpu-001")})
    found = called(world, crowd, 2)
    assert crowd.nodes == {"gpu-001": "10.9.7.1", "gpu-002": "10.9.7.2"}
    assert found.machines["gpu-001"] != "projects/p/zones/z/instances/9"


def test_what_the_cloud_says_of_one_that_does_not_come_is_told(world: World) -> None:
    with pytest.raises(Refused, match=r"gpu-002: CW8151 .*no room"):
        called(world, Called(full="gpu-002"), 2, patience=0.0)


def test_planned_addresses_of_groups_are_those_that_are_known() -> None:
    text = """
cluster: big
site: {provider: aws, region: us-east-2, zone: us-east-2a, network: 10.40.0.0/16}
converge: pull
software: {distribution: ubuntu-24.04}
pools:
  head: {roles: [controller, login], machine: m7i.2xlarge}
  gpu: {roles: compute, machine: g5.8xlarge, count: 2, group: true}
"""
    spec = loads(text).spec
    assert [node.address for node in plan(spec).nodes] == ["10.40.0.4", "", ""]
    known = {"head": "10.40.0.4", "gpu-001": "10.40.9.9", "gpu-002": ""}
    assert [node.address for node in plan(spec, previous=known).nodes] == ["10.40.0.4", "10.40.9.9", ""]
