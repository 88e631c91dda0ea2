"""`clusterwright status`: what a cluster is right now."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE
from clusterwright.finding import Where, refuse

if TYPE_CHECKING:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.pull.reports import NodeReport
    from clusterwright.operate.status import ClusterStatus

_ABOUT = """Show nodes, Slurm's view of them, and jobs.

Without a name: every cluster of this operator. Exits with 1 when the cluster is not healthy: a
machine that does not run, a slurmctld that does not answer, or a last acceptance that failed.

Of a cluster on a cloud: machines as the stack knows them, and what nodes say of themselves. --drift asks
the cloud what is no more as it was made, changes nothing, and exits with 1 when something is not."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "status",
        run,
        _ABOUT,
        examples={
            "clusterwright status": "all clusters",
            "clusterwright status lab": "one, node by node",
            "clusterwright status clusters/aws-p5.yaml --drift": "on a cloud: every night, in a pipeline",
            "clusterwright status lab --json | jq '.nodes[] | select(.reason != \"\")'": "",
        },
    )
    add_target(parser, nargs="?")
    parser.add_argument("--drift", action="store_true", help="on a cloud: what is no more as it was made")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.stack.known import on_cloud
    from clusterwright.operate.status import status

    if arguments.cluster is None:
        from clusterwright.cli.verb import list as list_verb

        return list_verb.run(arguments)
    if far := on_cloud(arguments.cluster):
        return _of_cloud(far, arguments)
    if arguments.drift:
        remedy = f"Run `clusterwright up {arguments.cluster}`: it says what drifted, and mends it"
        raise refuse("CW9013", Where(path="--drift"), "a lab is looked at by `up`", remedy)
    found = status(Cluster.named(arguments.cluster))
    if arguments.json:
        print(json.dumps({**asdict(found), "healthy": found.healthy}, indent=1))
    else:
        _print(found)
    return FINE if found.healthy else FAILED


def _of_cloud(cluster: Cluster, arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.cli.terminal.stack_status import show_stack_status
    from clusterwright.operate.stack.known import known
    from clusterwright.operate.stack.status import status

    with progress(as_json=arguments.json) as report:
        found = status(known(cluster, report), drift=arguments.drift)
    show_stack_status(found, as_json=arguments.json)
    return FINE if found.healthy else FAILED


def _print(found: ClusterStatus) -> None:
    from clusterwright.cli.terminal.style import paint
    from clusterwright.cli.terminal.table import print_table

    accepted = "accepted" if found.accepted else "not accepted"
    words = [f"Slurm {found.release}", *(["simulated hardware"] if found.simulated else []), accepted]
    if not found.answers:
        words.append("slurmctld does not answer")
    style = "bold green" if found.healthy else "bold red"
    print(f"{paint(found.name, style, sys.stdout)}: {', '.join(words)}\n")
    if found.proof:
        print(f"its own gates: {found.proof}\n")
    if found.backups:
        print(f"backups: {found.backups}\n")
    own = ("BUNDLE",) if found.pulls else ()
    heads = ("NODE", "MACHINE", "SLURM", "GPUS", "JOBS", "ROLES", "TYPE", "ADDRESS", *own, "REASON")
    print_table(
        heads,
        (
            (
                node.name,
                node.power,
                node.slurm,
                str(node.gpus or ""),
                ",".join(node.jobs),
                ",".join(node.roles),
                node.machine,
                node.address,
                *([_bundle(node.report)] if found.pulls else []),
                node.reason,
            )
            for node in found.nodes
        ),
    )


def _bundle(report: NodeReport | None) -> str:
    return f"{report.serial} {report.state} {report.cause}".strip() if report else "no report"
