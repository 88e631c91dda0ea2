"""What a cluster is right now: its machines, Slurm's view of them, and the last acceptance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clusterwright.finding import Refused
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.queue import Queue
from clusterwright.operate.verdict import was_accepted

if TYPE_CHECKING:
    from clusterwright.operate.pull.reports import NodeReport


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """One node. `slurm` is empty where Slurm does not know the node or cannot be asked."""

    name: str
    roles: tuple[str, ...]
    machine: str
    address: str
    gpus: int
    power: str
    """`running`, `stopped`, `missing` …: the machine itself."""
    slurm: str
    reason: str
    jobs: tuple[str, ...]
    report: NodeReport | None = None
    """What a node that converges itself said last."""


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """A cluster and its nodes, in the order of the hand-off."""

    name: str
    simulated: bool
    release: str
    accepted: bool
    nodes: tuple[NodeStatus, ...]
    answers: bool
    """Whether slurmctld answered."""
    pulls: bool = False
    """Whether its nodes converge themselves."""
    proof: str = ""
    """What one of these said last of the cluster as a whole."""
    backups: str = ""
    """What the controller says of its backups; empty where it takes none."""
    saved: bool = True
    """Whether the last of them is as recent as it should be."""

    @property
    def healthy(self) -> bool:
        runs = all(node.power == "running" for node in self.nodes)
        return self.accepted and self.answers and self.saved and runs


def status(cluster: Cluster) -> ClusterStatus:
    """Look, and change nothing. What only some clusters have is loaded for those alone."""
    handoff, existing = cluster.handoff, cluster.machines.existing()
    queue = cluster.queue()
    states = queue.states()
    jobs: Mapping[str, tuple[str, ...]] = queue.jobs_on(set(handoff.by_name)) if states else {}
    pulls = handoff.cluster["converge"] == "pull"
    reports, proof = _reports(cluster) if pulls else ({}, "")
    nodes = tuple(
        NodeStatus(
            name=node.name,
            roles=node.roles,
            machine=node.machine,
            address=node.address,
            gpus=node.gpus,
            power=existing.get(node.name, "missing"),
            slurm=states.get(node.name, ("", ""))[0],
            reason=states.get(node.name, ("", ""))[1],
            jobs=jobs.get(node.name, ()),
            report=reports.get(node.name),
        )
        for node in handoff.nodes
    )
    simulated = any(site["simulated"] for site in handoff.site.values())
    release = str(handoff.scheduler["release"])
    accepted = was_accepted(cluster.home)
    backups, saved = _backups(queue) if handoff.scheduler.get("backup") else ("", True)
    return ClusterStatus(
        handoff.name, simulated, release, accepted, nodes, bool(states), pulls, proof, backups, saved
    )


def _backups(queue: Queue) -> tuple[str, bool]:
    from clusterwright.operate.backup.program import overview

    try:
        found = overview(queue.controller)
    except Refused as refusal:
        return refusal.findings[0].what, False
    return found.words, not (found.late or found.hold)


def _reports(cluster: Cluster) -> tuple[Mapping[str, NodeReport], str]:
    from clusterwright.operate.pull.proof import proof_in
    from clusterwright.operate.pull.reports import Reports, host_keys

    store, keys = cluster.machines.store(cluster.handoff, serve=False), host_keys(cluster.targets)
    proof = proof_in(store, cluster.handoff, keys)
    return Reports(store, keys).now(), proof.words if proof else ""
