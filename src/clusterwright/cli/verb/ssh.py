"""`clusterwright ssh`: a shell or a command on a node."""

from __future__ import annotations

import argparse
import os

from clusterwright.cli.arguments import Verbs, add_target

_ABOUT = """Log in to a node, or run a command there.

Without a node: where users log in. What follows -- is the command; its exit code is that of
`clusterwright ssh`. The node's host key is the one that was made with it."""


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
    parser.add_argument("--user", help="be this user there (default: root)")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.session import ssh_argv

    cluster = Cluster.named(arguments.cluster)
    argv = ssh_argv(cluster, arguments.node, arguments.command, arguments.user)
    os.execvp(argv[0], argv)
