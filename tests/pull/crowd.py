"""A group that a cloud keeps at its number, and the names that its machines are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from clusterwright.event import Event
from clusterwright.handoff import Handoff
from clusterwright.operate.pull.crowds import Groups
from clusterwright.operate.pull.members import Named, name_members
from clusterwright.operate.pull.signing import Signing
from clusterwright.providers.member import Member

from .world import World, handoff_of

POOL = {"gpu": "gpu-0123456"}


@dataclass
class Crowd:
    """One group: machines with their addresses. In place of one that is ended comes another."""

    size: int
    there: dict[str, str] = field(default_factory=dict)
    made: int = 0

    def grow(self) -> None:
        while len(self.there) < self.size:
            self.made += 1
            self.there[f"i-{self.made:04}"] = f"10.9.7.{self.made}"

    def members(self, group: str) -> dict[str, Member]:
        assert group == POOL["gpu"]
        return {machine: Member(address) for machine, address in self.there.items()}

    def call(self, _: str, __: Mapping[str, str]) -> dict[str, str]:
        return {}

    def end(self, _: str, machines: Iterable[str]) -> None:
        for machine in machines:
            del self.there[machine]
        self.grow()


@dataclass
class Called:
    """A group whose members are made by name, with a planned address: each is there one look later."""

    there: dict[str, Member] = field(default_factory=dict)
    coming: dict[str, Member] = field(default_factory=dict)
    made: int = 0
    full: str = ""
    """Node that there is no room for."""

    def members(self, group: str) -> dict[str, Member]:
        assert group == "projects/p/zones/z/instanceGroupManagers/far-gpu-01"
        self.there |= self.coming
        self.coming = {}
        return dict(self.there)

    def call(self, _: str, nodes: Mapping[str, str]) -> dict[str, str]:
        for node, address in nodes.items():
            if node != self.full:
                self.made += 1
                self.coming[f"projects/p/zones/z/instances/{self.made:04}"] = Member(address, node)
        return {self.full: "no room"} if self.full in nodes else {}

    def end(self, _: str, machines: Iterable[str]) -> None:
        for machine in machines:
            del self.there[machine]

    @property
    def nodes(self) -> dict[str, str]:
        """Name → address."""
        return {one.node: one.address for one in self.there.values()}


def handoff(count: int) -> Handoff:
    """Of a pool whose nodes have no planned address."""
    text = f"""
cluster: far
site: {{provider: lab, network: 10.9.0.0/16}}
converge: pull
pools:
  controller: {{roles: [controller, login], machine: lab-small}}
  gpu: {{roles: compute, machine: lab-small, count: {count}}}
"""
    return handoff_of(text).at({f"gpu-{number:03}": "" for number in range(1, count + 1)})


def named(world: World, crowd: Crowd, count: int, said: list[Event] | None = None) -> Named:
    groups = Groups(POOL, crowd, patience=0.0, pause=0.0)
    report = said.append if said is not None else lambda _: None
    return name_members(groups, handoff(count), world.store, Signing.of(world.home), report)


def grown(size: int) -> Crowd:
    crowd = Crowd(size)
    crowd.grow()
    return crowd
