"""`clusterwright logs`: console and journal of a node."""

from __future__ import annotations

import argparse
import json

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FINE

_ABOUT = """Read a node's journal or console.

Read from outside, so a node that does not answer can be read too."""


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
    from clusterwright.operate.cluster import Cluster

    cluster = Cluster.named(arguments.cluster)
    node = (
        cluster.nodes(arguments.node)[0]
        if arguments.node
        else cluster.handoff.with_role("controller")[0].name
    )
    for line in cluster.machines.logs(node, follow=arguments.follow, console=arguments.console):
        text = line.rstrip("\n")
        print(json.dumps({"node": node, "line": text}) if arguments.json else text, flush=arguments.follow)
    return FINE
