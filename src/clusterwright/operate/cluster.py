"""A cluster that was brought up: what it is, and how its nodes are reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from clusterwright.converge.target import Target
from clusterwright.finding import Refused, Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.disturb import queue_of
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.machines import Machines
from clusterwright.operate.nodes import node_of, nodes_of
from clusterwright.operate.provider import machines_by_name, machines_of_cluster
from clusterwright.operate.queue import Queue
from clusterwright.operate.remote import Reached
from clusterwright.operate.source import Source, applied, cluster_home, recorded


@dataclass(frozen=True)
class Cluster:
    """By the name or description file that the user gave."""

    home: ClusterHome

    @classmethod
    def named(cls, name_or_file: str) -> Cluster:
        return cls(cluster_home(name_or_file))

    @property
    def name(self) -> str:
        return self.home.name

    @cached_property
    def handoff(self) -> Handoff:
        """As last applied. Raises Refused when the cluster never got that far."""
        found = self.home.handoff()
        if found is None:
            raise self._half_made()
        return found

    def _half_made(self) -> Refused:
        return refuse(
            "CW8007",
            Where(path=self.name),
            f"cluster '{self.name}' is half-made: no `up` of it has finished",
            "Run `clusterwright up` again: it goes on where it stopped; or `clusterwright destroy` it",
        )

    @cached_property
    def machines(self) -> Machines:
        found = self.home.handoff()
        return machines_of_cluster(found) if found else machines_by_name(self.name)

    @cached_property
    def targets(self) -> Mapping[str, Target]:
        return self.machines.targets(self.handoff)

    def applied(self) -> Source:
        """The description that it is known to have reached. Raises Refused when it never got there."""
        found = applied(self.home)
        if found is None:
            raise self._half_made()
        return found

    def source(self) -> Source:
        """How it was brought up. Raises Refused when that was never recorded."""
        found = recorded(self.home)
        if found is None:
            remedy = f"Run `clusterwright up FILE` with the description of '{self.name}'"
            raise refuse("CW8008", Where(path=self.name), "its description is not recorded", remedy)
        return found

    def queue(self) -> Queue:
        """Raises Refused when the cluster has no controller to ask."""
        found = queue_of(self.handoff, self.targets)
        if found is None:
            remedy = f"Run `clusterwright up {self.name}` to bring it back"
            raise refuse("CW8009", Where(path=self.name), "there is no controller to ask", remedy)
        return found

    def nodes(self, text: str) -> tuple[str, ...]:
        """A node set of this cluster. Raises Refused with every name that is not one of its nodes."""
        return nodes_of(self.handoff, text)

    def node(self, text: str) -> str:
        """One of its nodes. Raises Refused for what is none, and for several."""
        return node_of(self.handoff, text)

    def reach(self, node: str) -> Reached:
        """Raises Refused for one whose machine is not there."""
        if node not in self.targets:
            what, remedy = f"node {node} does not exist now", f"Run `clusterwright up {self.name}`"
            raise refuse("CW8013", Where(path=node), what, remedy)
        return self.targets[node]

    def entry(self) -> str:
        """The node that users log in to."""
        nodes = (*self.handoff.with_role("login"), *self.handoff.with_role("controller"), *self.handoff.nodes)
        return nodes[0].name
