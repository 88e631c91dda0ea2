"""What a cluster on a cloud is: its machines by the state, what its nodes said last, and what drifted."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.finding import Finding
from clusterwright.operate.pull.reports import NodeReport
from clusterwright.operate.stack.changes import is_of_cloud, title
from clusterwright.operate.stack.failures import ACCEPTANCE, refused
from clusterwright.operate.stack.heard import heard
from clusterwright.operate.stack.known import Known
from clusterwright.operate.stack.locks import unlocked
from clusterwright.operate.stack.told import made_nodes, said_by_nodes


@dataclass(frozen=True, slots=True)
class StackNode:
    """One node of the hand-off."""

    name: str
    roles: tuple[str, ...]
    machine: str
    address: str
    gpus: int
    instance: str
    """ID of its machine; empty where none was made."""
    said: str
    """`accepted`, or what it is instead; empty where nobody asked."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Something that is no more as it was made."""

    what: str
    gone: bool
    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StackStatus:
    """A cluster and its nodes, in the order of the hand-off."""

    name: str
    provider: str
    release: str
    nodes: tuple[StackNode, ...]
    findings: tuple[Finding, ...]
    drift: tuple[Drift, ...] | None = None
    """None where the cloud was not asked."""

    gates: str = "accepted"
    """`accepted`, or what gates of the cluster as a whole said instead at the last `up`."""

    @property
    def accepted(self) -> bool:
        return self.gates == "accepted" and all(node.said == "accepted" for node in self.nodes)

    @property
    def healthy(self) -> bool:
        return self.accepted and all(node.instance for node in self.nodes) and not self.drift


def status(found: Known, *, drift: bool) -> StackStatus:
    """Look, and change nothing. With `drift` the cloud is asked how each resource is."""
    handoff = found.handoff
    reports, _, findings = heard(found)
    said = {**said_by_nodes(found.kept), **{node: _words(report) for node, report in reports.items()}}
    made = made_nodes(handoff)
    nodes = tuple(
        StackNode(
            node.name,
            node.roles,
            node.machine,
            node.address,
            node.gpus,
            found.machines.get(node.name, ""),
            said.get(node.name, ""),
        )
        for node in made
    )
    provider = str(handoff.site[made[0].site]["provider"])
    release = str(handoff.scheduler["release"])
    seen = _drift(found) if drift else None
    gates = next((one.outputs.get("gates") for one in found.kept.of_type(ACCEPTANCE)), None) or "accepted"
    return StackStatus(handoff.name, provider, release, nodes, findings, seen, str(gates))


def _words(report: NodeReport) -> str:
    return f"{report.state} {report.cause}".strip()


def _drift(found: Known) -> tuple[Drift, ...]:
    with refused(found.name):
        steps = unlocked(found.stack, found.stack.drift)
    return tuple(
        Drift(title(step.type, step.name), step.op == "delete", step.changed)
        for step in steps
        if is_of_cloud(step.type)
    )
