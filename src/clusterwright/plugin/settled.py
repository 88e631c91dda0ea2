"""The real clusters that converge themselves, for the engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from clusterwright.event import Report
from clusterwright.handoff import loads
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.pull.introduced import Ask, Introduction
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
        before = loads(cluster.before) if cluster.before else None
        found = settle(_far(cluster), before, loads(cluster.handoff), cluster.file.parent, report)
        states = {}
        for node, result in found.nodes.items():
            words = f"{result.failed_task or result.status}: {result.message}"
            states[node] = ACCEPTED if result.status in ("ok", "changed") else words
        return Acceptance(states, found.host_keys)

    def look(self, cluster: FarCluster) -> Acceptance:
        return Acceptance(dict(_states(cluster)), cluster.host_keys)


def _states(cluster: FarCluster) -> Iterator[tuple[str, str]]:
    said = reports_of(_far(cluster))
    for node in cluster.machines:
        report = said.get(node)
        yield node, f"{report.state} {report.cause}".strip() if report else "said nothing"


def _far(cluster: FarCluster) -> Far:
    store, ask = _on_google(cluster) if cluster.provider == "gcp" else _on_amazon(cluster)
    return Far(store, cluster.machines, Introduction(ask), cluster.signer, cluster.host_keys)


def _on_amazon(cluster: FarCluster) -> tuple[Store, Ask]:
    from clusterwright.providers.aws.bucket import Bucket
    from clusterwright.providers.aws.console import Consoles, keys_of

    return Store(Bucket(cluster.bucket, cluster.region), cluster.url), partial(
        keys_of, Consoles(cluster.region)
    )


def _on_google(cluster: FarCluster) -> tuple[Store, Ask]:
    from clusterwright.providers.gcp.bucket import Bucket
    from clusterwright.providers.gcp.console import Consoles, keys_of

    return Store(Bucket(cluster.bucket), cluster.url), partial(keys_of, Consoles())
