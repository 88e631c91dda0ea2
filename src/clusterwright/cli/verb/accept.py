"""`clusterwright accept`: prove a cluster."""

from __future__ import annotations

import argparse

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE

_ABOUT = """Prove a cluster, and write a report.

Gates check that every node answers and has exactly the GPUs of the plan, that daemons run, that
accounting records a job, that an MPI all-reduce over two nodes gives the right sum, that jobs see
only their own GPUs, that clocks agree and that the shared home is the same everywhere."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "accept",
        run,
        _ABOUT,
        resumes=True,
        examples={
            "clusterwright accept lab": "",
            "clusterwright accept lab --json | tail -1": "the report, after the events",
        },
    )
    add_target(parser)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.outcome import show_acceptance
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.accept import accept
    from clusterwright.operate.cluster import Cluster

    cluster = Cluster.named(arguments.cluster)
    with progress(as_json=arguments.json) as report:
        acceptance = accept(cluster, report)
    page = str(cluster.home.reports / "accept.html")
    show_acceptance(acceptance, page, as_json=arguments.json)
    return FINE if acceptance.accepted else FAILED
