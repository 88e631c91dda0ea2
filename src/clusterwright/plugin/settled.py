"""The real clusters that converge themselves, for the engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from clusterwright.event import Report
from clusterwright.finding import Where, refuse
from clusterwright.handoff import loads
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.pull.introduced import Introduction
from clusterwright.operate.pull.settle import Far, reports_of, settle
from clusterwright.operate.pull.store import Store
from clusterwright.operate.source import Source
from clusterwright.plugin.far import ACCEPTED, Acceptance, FarCluster
from clusterwright.plugin.operated import digest_of


class SettledClusters:
    """With the credentials that the cloud's own tools would use on this machine."""

    def digest(self, file: Path) -> str:
        return digest_of(prepare(described(Source(file))), file.parent)

    def accept(self, cluster: FarCluster, report: Report) -> Acceptance:
        results = settle(_far(cluster), loads(cluster.handoff), cluster.file.parent, report)
        states = {}
        for node, result in results.items():
            words = f"{result.failed_task or result.status}: {result.message}"
            states[node] = ACCEPTED if result.status in ("ok", "changed") else words
        return Acceptance(states)

    def look(self, cluster: FarCluster) -> Acceptance:
        return Acceptance(dict(_states(cluster)))


def _states(cluster: FarCluster) -> Iterator[tuple[str, str]]:
    said = reports_of(_far(cluster), loads(cluster.handoff).name)
    for node in cluster.machines:
        report = said.get(node)
        yield node, f"{report.state} {report.cause}".strip() if report else "said nothing"


def _far(cluster: FarCluster) -> Far:
    if cluster.provider != "aws":
        what = f"nothing is published into a bucket of {cluster.provider} yet"
        remedy = "Set `clusterwright:accept` to false: the machines are made, and wait for their bundle"
        raise refuse("CW8058", Where(path="provider"), what, remedy)
    from clusterwright.providers.aws.bucket import Bucket
    from clusterwright.providers.aws.console import Consoles, keys_of

    store = Store(Bucket(cluster.bucket, cluster.region), cluster.url)
    introduction = Introduction(partial(keys_of, Consoles(cluster.region)))
    return Far(store, cluster.machines, introduction, cluster.signer)
