"""`clusterwright ssh`: a shell or a command on a node."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target

if TYPE_CHECKING:
    from clusterwright.operate.cluster import Cluster

_ABOUT = """Log in to a node, or run a command there.

Without a node: where users log in. What follows -- is the command; its exit code is that of
`clusterwright ssh`. The node's host key is the one that was made with it. On a cloud it is the command
that the stack tells: through EC2 Instance Connect, Identity-Aware Proxy, or the address of its door."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "ssh",
        run,
        _ABOUT,
        takes_command=True,
        examples={
            "clusterwright ssh lab": "a shell where users log in",
            "clusterwright ssh lab -- srun -N2 --gres=gpu:8 hostname": "a first job",
            "clusterwright ssh lab --user ada -- sbatch job.sh": "as one of the cluster's users",
            "clusterwright ssh lab gpu-001 -- nvidia-smi -L": "on one node",
        },
    )
    add_target(parser)
    parser.add_argument("node", metavar="NODE", nargs="?", help="a node (default: the login node)")
    parser.add_argument("--user", help="be this user there (default: root; on a cloud your own)")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.session import ssh_argv
    from clusterwright.operate.stack.known import on_cloud

    if far := on_cloud(arguments.cluster):
        argv = _through_cloud(far, arguments)
        os.execvp(argv[0], argv)
    cluster = Cluster.named(arguments.cluster)
    argv = ssh_argv(cluster, arguments.node, arguments.command, arguments.user)
    os.execvp(argv[0], argv)


def _through_cloud(cluster: Cluster, arguments: argparse.Namespace) -> list[str]:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.stack.known import known, ssh_argv

    with progress(as_json=False) as report:
        found = known(cluster, report)
    return ssh_argv(found, arguments.node, arguments.command, arguments.user)
