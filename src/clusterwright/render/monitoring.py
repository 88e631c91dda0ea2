"""Prometheus: what it scrapes, and when it says that something is wrong."""

from __future__ import annotations

import json
from collections import defaultdict

from clusterwright.handoff import Handoff
from clusterwright.render.file import NodeFile
from clusterwright.render.node import SLURMCTLD_PORT
from clusterwright.render.release import SlurmRelease
from clusterwright.render.templates import fill

NODE_EXPORTER_PORT = 9100
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
    values = {"cluster": handoff.name, "release": release, "controllers": controllers}
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
        NodeFile("/etc/prometheus/targets/nodes.json", _targets(handoff), ("controller",)),
    )


def _targets(handoff: Handoff) -> str:
    """Prometheus reads this file again by itself when it changes."""
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for node in handoff.nodes:
        members[node.site, node.pool].append(f"{node.name}:{NODE_EXPORTER_PORT}")
    groups = [
        {"labels": {"site": site, "pool": pool}, "targets": sorted(targets)}
        for (site, pool), targets in sorted(members.items())
    ]
    return json.dumps(groups, indent=1, sort_keys=True) + "\n"
