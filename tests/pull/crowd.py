"""A group that a cloud keeps at its number, and the names that its machines are given."""

from __future__ import annotations

from dataclasses import dataclass, field

from clusterwright.event import Event
from clusterwright.handoff import Handoff
from clusterwright.operate.pull.members import Groups, Named, name_members
from clusterwright.operate.pull.signing import Signing

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

    def members(self, group: str) -> dict[str, str]:
        assert group == POOL["gpu"]
        return dict(self.there)

    def end(self, machine: str) -> None:
        del self.there[machine]
        self.grow()


def handoff(count: int) -> Handoff:
    """Of a pool whose nodes have no planned address."""
    text = f"""
cluster: far
site: {{provider: lab}}
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
