"""The real labs: what `clusterwright up`, `diff` and `destroy` do, for the engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from clusterwright.bundle import collection, generated
from clusterwright.change import Change, diff
from clusterwright.event import Report
from clusterwright.handoff import Handoff
from clusterwright.operate.cluster import Cluster
from clusterwright.operate.destroy import destroy
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.outcome import Outcome
from clusterwright.operate.prepare import Prepared, described, ground_of, prepare
from clusterwright.operate.source import Source
from clusterwright.operate.up import up
from clusterwright.plugin.labs import Described, Lab
from clusterwright.spec.nodeset import fold


class OperatedLabs:
    """Labs of this user on this machine, the same that the command line sees."""

    def describe(self, file: Path) -> Described:
        description = described(Source(file))
        prepared = prepare(description)
        return Described(description.spec.cluster, file.read_text(), digest_of(prepared, file.parent))

    def changes(self, file: Path) -> list[str]:
        description = described(Source(file))
        home = ClusterHome.of(description.spec.cluster)
        before = home.handoff()
        if before is None:
            after = prepare(description)
        else:
            previous = {node.name: node.address for node in before.nodes}
            after = prepare(description.over(before), ground=ground_of(before), previous=previous)
        return [_line(change) for change in diff(before, after.handoff, home.files(), after.files)]

    def up(self, file: Path, report: Report) -> Lab:
        outcome = up(Source(file), report)
        cluster = Cluster(ClusterHome.of(outcome.handoff.name))
        return _lab(cluster, outcome.handoff, "\n".join(_problems(outcome)))

    def find(self, name: str) -> Lab | None:
        cluster = Cluster(ClusterHome.of(name))
        return _lab(cluster, cluster.home.handoff()) if cluster.home.exists() else None

    def destroy(self, name: str, report: Report) -> None:
        destroy(Cluster(ClusterHome.of(name)), report)


def _lab(cluster: Cluster, handoff: Handoff | None, problem: str = "") -> Lab:
    existing = cluster.machines.existing()
    if handoff is None:
        return Lab("", "", existing, problem)
    nodes = {node.name: existing.get(node.name, "missing") for node in handoff.nodes}
    entry = (*handoff.with_role("login"), *handoff.with_role("controller"))[0]
    return Lab(handoff.dumps(), entry.address, nodes, problem)


def _problems(outcome: Outcome) -> Iterator[str]:
    for name, node in sorted(outcome.broken.items()):
        yield f"{name}: {node.status}: {node.failed_task or ''} {node.message}".strip()
    yield from map(str, outcome.failed)
    for gate in outcome.acceptance.failed if outcome.acceptance else ():
        yield gate.words


def _line(change: Change) -> str:
    nodes = fold(change.nodes) or "cluster"
    return f"{nodes}: {change.path} {change.what} ({change.impact.value})"


def digest_of(prepared: Prepared, folder: Path) -> str:
    """Of roles, templates, lock and files beside the description: what changes a node though no word does."""
    whole = hashlib.sha256(collection.digest().encode())
    for file in sorted(prepared.files, key=lambda file: file.path):
        whole.update(repr(file).encode())
    whole.update(json.dumps(prepared.handoff.software["stacks"], sort_keys=True).encode())
    for path in sorted({*generated.attachments(prepared.handoff)}):
        beside = folder / path
        whole.update(f"\n{path}\n".encode() + (beside.read_bytes() if beside.is_file() else b""))
    return whole.hexdigest()
