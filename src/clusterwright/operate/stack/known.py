"""A cluster on a cloud as its stack knows it, and how it is reached."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from clusterwright.event import Report
from clusterwright.finding import Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.nodes import node_of, nodes_of
from clusterwright.operate.source import is_description
from clusterwright.operate.stack.changes import node_of as node_of_resource
from clusterwright.operate.stack.failures import ACCEPTANCE, refused
from clusterwright.operate.stack.folder import StackFolder
from clusterwright.operate.stack.told import handoff_of, members_of

if TYPE_CHECKING:
    from clusterwright.providers.engine.kept import Kept
    from clusterwright.providers.engine.stack import Stack


@dataclass(frozen=True)
class Known:
    """Read from the state; the cloud was not asked."""

    name: str
    kept: Kept
    stack: Stack

    @cached_property
    def machines(self) -> Mapping[str, str]:
        """Node → ID of its machine."""
        named = ((node_of_resource(one.type, one.name, self.name), one.id) for one in self.kept.resources)
        return {**{node: identity for node, identity in named if node}, **members_of(self.kept)}

    @property
    def asks(self) -> bool:
        """Whether its nodes' reports are waited for."""
        return bool(self.kept.of_type(ACCEPTANCE))

    @cached_property
    def handoff(self) -> Handoff:
        """As last made. Raises Refused when no `up` got that far."""
        found = handoff_of(self.kept)
        if found is None:
            what = f"no `up` of '{self.name}' has finished"
            raise refuse("CW8007", Where(path=self.name), what, "Run `clusterwright up` again: it goes on")
        return found

    def machine(self, node: str) -> str:
        """ID of a node's machine. Raises Refused where it has none."""
        if node not in self.machines:
            remedy = f"Run `clusterwright up {self.name}`"
            raise refuse("CW8013", Where(path=node), f"{node} does not exist now", remedy)
        return self.machines[node]

    def nodes(self, text: str) -> tuple[str, ...]:
        """A node set of this cluster. Raises Refused with every name that is not one of its nodes."""
        return nodes_of(self.handoff, text)

    def node(self, text: str) -> str:
        """One of its nodes. Raises Refused for what is none, and for several."""
        return node_of(self.handoff, text)


def known(cluster: Cluster, report: Report) -> Known:
    """Raises Refused where the state does not know the cluster."""
    stranger = not cluster.home.exists()
    stack = StackFolder(cluster.home).stack(report)
    stack.write_project()
    with refused(cluster.name):
        if not stack.exists():
            if stranger:
                cluster.home.forget()
            what = "nothing of it was made"
            raise refuse("CW8007", Where(path=cluster.name), what, "Run `clusterwright up` again: it goes on")
        return Known(cluster.name, stack.kept(), stack)


def ssh_argv(found: Known, node: str | None, command: Sequence[str], user: str | None) -> list[str]:
    """What the program told as `ssh_command`, for another node in its place.

    Where a door stands open to the outside, that is the way to every other node."""
    argv = shlex.split(str(found.kept.outputs["ssh_command"]))
    door = (*found.handoff.with_role("login"), *found.handoff.with_role("controller"))[0].name
    if node and (name := found.node(node)) != door:
        argv = _to(found, argv, door, name)
    if user:
        argv = _as(argv, user)
    if not command:
        return argv
    words = shlex.join(command)
    return [*argv, "--command", words] if argv[0] == "gcloud" else [*argv, words]


def _to(found: Known, argv: list[str], door: str, node: str) -> list[str]:
    machine = found.machine(node)
    address = found.handoff.by_name[node].address
    if argv[0] == "gcloud":
        return [word.replace(f"{found.name}-{door}", f"{found.name}-{node}") for word in argv]
    if len(argv) == 2:
        return ["ssh", "-J", argv[-1], address]
    own = found.machines[door], machine
    return [*(word.replace(*own) for word in argv[:-1]), address]


def _as(argv: list[str], user: str) -> list[str]:
    if argv[0] == "gcloud":
        return [*argv[:3], f"{user}@{argv[3]}", *argv[4:]]
    return [argv[0], "-l", user, *argv[1:]]


def on_cloud(name_or_file: str) -> Cluster | None:
    """The cluster, where a stack makes it; also one that another machine brought up, by its description.

    None for labs and machines of one's own. Raises Refused for a name that nobody knows."""
    if is_description(name_or_file):
        from clusterwright.operate.stack.work import cloud_of
        from clusterwright.spec.load import load

        spec = load(name_or_file).spec
        home = ClusterHome.of(spec.cluster)
        if StackFolder(home).exists() or (cloud_of(spec) and not home.exists()):
            return Cluster(home)
    cluster = Cluster.named(name_or_file)
    return cluster if StackFolder(cluster.home).exists() else None
