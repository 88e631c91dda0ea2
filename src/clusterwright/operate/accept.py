"""`accept`: prove a cluster again, as it was last applied."""

from __future__ import annotations

from clusterwright.accept.result import Acceptance
from clusterwright.event import Report
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.desired import Desired
from clusterwright.operate.prove import prove, prove_within
from clusterwright.operate.pull.proof import Waiting
from clusterwright.operate.pull.reports import host_keys


def accept(cluster: Cluster, report: Report) -> Acceptance:
    """Run every gate. Changes nothing, and takes no node away from running jobs."""
    with cluster.home.locked():
        folder = cluster.applied().folder
        desired = Desired(cluster.home, cluster.handoff, cluster.home.files(), folder)
        if cluster.handoff.cluster["converge"] != "pull":
            return prove(desired, cluster.targets, report)
        store, keys = cluster.machines.store(cluster.handoff), host_keys(cluster.targets)
        waiting = Waiting(store, cluster.handoff, keys, report, cluster.targets)
        return prove_within(desired, cluster.targets, waiting, waiting.now())
