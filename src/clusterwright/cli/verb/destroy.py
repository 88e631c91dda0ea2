"""`clusterwright destroy`: leave nothing."""

from __future__ import annotations

import argparse
import json

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FINE

_ABOUT = """Remove a cluster: its machines and everything that is kept of it.

Asks no question. Also removes a half-made cluster and one whose state is damaged; stopped on the
way, it goes on when run again. The description stays, so `up` makes the cluster anew."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "destroy",
        run,
        _ABOUT,
        resumes=True,
        examples={"clusterwright destroy lab": "jobs and homes included"},
    )
    add_target(parser)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.destroy import destroy

    cluster = Cluster.named(arguments.cluster)
    with progress(as_json=arguments.json) as report:
        nodes = destroy(cluster, report)
    if arguments.json:
        print(json.dumps({"outcome": {"cluster": cluster.name, "ok": True, "removed": list(nodes)}}))
    else:
        print(f"{cluster.name} is gone: {len(nodes)} nodes")
    return FINE
