"""Prometheus: what it scrapes, and when it says that something is wrong."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from clusterwright.handoff import Handoff, Node
from clusterwright.render.file import NodeFile
from clusterwright.render.node import SLURMCTLD_PORT
from clusterwright.render.release import SlurmRelease
from clusterwright.render.templates import fill

NODE_EXPORTER_PORT = 9100
DCGM_EXPORTER_PORT = 9400
"""dcgm-exporter's --address, as its own service starts it."""
PROMETHEUS_PORT = 9090
_FROM_SLURMCTLD = {
    "silent": 'up{job="slurm-nodes"} == 0',
    "down": "slurm_nodes_down > 0",
    "drained": "slurm_nodes_drained > 0",
    "backlog": "slurm_slurmdbd_queue_size > 10000",
}
"""Conditions in the metrics that slurmctld serves itself."""
_ALL_SILENT = 'max(up{job="slurm-nodes"}) == 0'
"""Of several controllers, those that wait to take over serve none."""
_FROM_COLLECTOR = {
    "silent": 'slurm_up == 0 or time() - node_textfile_mtime_seconds{file=~".*/slurm.prom"} > 180',
    "down": 'max(slurm_nodes{state="down"}) > 0',
    "drained": 'max(slurm_nodes{state="drained"}) > 0',
    "backlog": "slurm_scheduler_dbd_agent_queue_size > 10000",
}
"""The same in the metrics that the monitoring role collects for older releases."""


def files(handoff: Handoff, release: SlurmRelease) -> tuple[NodeFile, ...]:
    if not handoff.software["monitoring"]:
        return ()
    controllers = [f"{node.name}:{SLURMCTLD_PORT}" for node in handoff.with_role("controller")]
    with_dcgm = [node for node in handoff.nodes if exports_dcgm(handoff, node)]
    values = {
        "cluster": handoff.name,
        "release": release,
        "controllers": controllers,
        "dcgm": bool(with_dcgm),
    }
    conditions = _FROM_SLURMCTLD if release.openmetrics else _FROM_COLLECTOR
    if release.openmetrics and len(controllers) > 1:
        conditions = {**conditions, "silent": _ALL_SILENT}
    reload = ("prometheus:reload",)
    return (
        NodeFile(
            "/etc/prometheus/prometheus.yml",
            fill("monitoring/prometheus.yml.j2", **values),
            ("controller",),
            affects=reload,
        ),
        NodeFile(
            "/etc/prometheus/rules/clusterwright.yml",
            fill("monitoring/rules.yml.j2", cluster=handoff.name, when=conditions),
            ("controller",),
            affects=reload,
        ),
        *_targets("nodes", handoff.nodes, NODE_EXPORTER_PORT),
        *_targets("gpus", with_dcgm, DCGM_EXPORTER_PORT),
    )


def exports_dcgm(handoff: Handoff, node: Node) -> bool:
    """Whether the lock gives it NVIDIA's exporter for its GPUs."""
    return "compute" in node.roles and "dcgm_exporter" in handoff.software["stacks"].get(node.pool, {})


def _targets(name: str, nodes: Iterable[Node], port: int) -> Iterator[NodeFile]:
    """Prometheus reads this file again by itself when it changes."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in nodes:
        members[node.site, node.pool].append(f"{node.name}:{port}")
    groups = [
        {"labels": {"site": site, "pool": pool}, "targets": sorted(targets)}
        for (site, pool), targets in sorted(members.items())
    ]
    if groups:
        text = json.dumps(groups, indent=1, sort_keys=True) + "\n"
        yield NodeFile(f"/etc/prometheus/targets/{name}.json", text, ("controller",))
