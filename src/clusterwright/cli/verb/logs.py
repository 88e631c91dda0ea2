"""`clusterwright logs`: console and journal of a node."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.stack.known import Known

_ABOUT = """Read a node's journal or console.

Read from outside, so a node that does not answer can be read too. On a cloud the journal is read on the
node, as `clusterwright ssh` goes there; the console comes from the cloud, also of a node that is dead."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "logs",
        run,
        _ABOUT,
        examples={
            "clusterwright logs lab": "the controller's",
            "clusterwright logs lab gpu-001 --follow": "of one node, as it goes on",
            "clusterwright logs lab gpu-001 --console": "what it said before its journal began",
        },
    )
    add_target(parser)
    parser.add_argument("node", metavar="NODE", nargs="?", help="a node (default: the controller)")
    parser.add_argument("-f", "--follow", action="store_true", help="go on as lines arrive")
    parser.add_argument("--console", action="store_true", help="the console instead of the journal")


def run(arguments: argparse.Namespace) -> int:
    node, lines = _lines_of(arguments)
    for line in lines:
        text = line.rstrip("\n")
        print(json.dumps({"node": node, "line": text}) if arguments.json else text, flush=arguments.follow)
    return FINE


def _lines_of(arguments: argparse.Namespace) -> tuple[str, Iterator[str]]:
    """The node, and what it wrote."""
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.stack.known import known, on_cloud
    from clusterwright.operate.stack.logs import logs

    far = on_cloud(arguments.cluster)
    if far:
        with progress(as_json=False) as report:
            found = known(far, report)
        node = _node(found, arguments.node)
        return node, logs(found, node, follow=arguments.follow, console=arguments.console)
    cluster = Cluster.named(arguments.cluster)
    node = _node(cluster, arguments.node)
    return node, cluster.machines.logs(node, follow=arguments.follow, console=arguments.console)


def _node(cluster: Cluster | Known, text: str | None) -> str:
    return cluster.node(text) if text else cluster.handoff.with_role("controller")[0].name
