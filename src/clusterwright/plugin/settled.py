"""The real clusters that converge themselves, for the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clusterwright.accept.result import Acceptance as ClusterAcceptance
from clusterwright.event import Report
from clusterwright.handoff import loads
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.pull.builders import settle_builders
from clusterwright.operate.pull.clouds import consoles_of, crowds_of, store_of
from clusterwright.operate.pull.crowds import Groups
from clusterwright.operate.pull.introduced import Introduction
from clusterwright.operate.pull.settle import Far, gone, proof_of, reports_of, settle
from clusterwright.operate.source import Source
from clusterwright.plugin.far import ACCEPTED, Acceptance, FarCluster
from clusterwright.plugin.operated import digest_of


class SettledClusters:
    """With the credentials that the cloud's own tools would use on this machine."""

    def digest(self, file: Path) -> str:
        return digest_of(prepare(described(Source(file))), file.parent)

    def accept(self, cluster: FarCluster, report: Report) -> Acceptance:
        before = loads(cluster.before).at(cluster.addresses) if cluster.before else None
        far, handoff, folder = _far(cluster), loads(cluster.handoff), cluster.file.parent
        if cluster.builds:
            found = settle_builders(far, handoff, folder, report)
        else:
            found = settle(far, before, handoff, folder, report)
        states = {}
        for node, result in found.nodes.items():
            words = f"{result.failed_task or result.status}: {result.message}"
            states[node] = ACCEPTED if result.status in ("ok", "changed") else words
        gates = _verdict(found.acceptance) if found.acceptance else ""
        return Acceptance(states, found.host_keys, gates, found.members, found.addresses)

    def look(self, cluster: FarCluster) -> Acceptance:
        far = _far(cluster)
        said = proof_of(far, loads(cluster.handoff))
        gates = said.words if said and not said.acceptance else _verdict(said.acceptance if said else None)
        states = {**dict(_states(cluster, far)), **gone(far)}
        return Acceptance(states, cluster.host_keys, gates, cluster.members, cluster.addresses)


def _verdict(acceptance: ClusterAcceptance | None) -> str:
    if acceptance is None:
        return ""
    return "\n".join(gate.words for gate in acceptance.failed) or ACCEPTED


def _states(cluster: FarCluster, far: Far) -> Iterator[tuple[str, str]]:
    said = reports_of(far)
    for node in (*cluster.machines, *cluster.members):
        report = said.get(node)
        yield node, f"{report.state} {report.cause}".strip() if report else "said nothing"


def _groups(cluster: FarCluster) -> Groups:
    name = loads(cluster.handoff).name
    return Groups(cluster.groups, crowds_of(cluster.provider, cluster.region, name))


def _far(cluster: FarCluster) -> Far:
    store = store_of(cluster.provider, cluster.region, cluster.bucket, cluster.url)
    ask = consoles_of(cluster.provider, cluster.region)
    groups = _groups(cluster) if cluster.groups else None
    introduction = Introduction(ask)
    keys = cluster.host_keys
    return Far(
        store, cluster.machines, introduction, cluster.signer, keys, groups, cluster.members, cluster.roll
    )
