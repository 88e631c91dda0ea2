"""`clusterwright accept`: prove a cluster."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.accept.result import Acceptance
    from clusterwright.event import Report
    from clusterwright.operate.cluster import Cluster

_ABOUT = """Prove a cluster, and write a report.

Gates check that every node answers and has exactly the GPUs of the plan, that daemons run, that
accounting records a job, that an MPI all-reduce over two nodes gives the right sum, that jobs see
only their own GPUs, that clocks agree and that the shared home is the same everywhere.

Where nodes pull, on a cloud too, one of them runs the gates: it is asked through the signed bundle, and
answers in the store."""


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


def _on_cloud(cluster: Cluster, report: Report) -> Acceptance:
    from clusterwright.operate.stack.accept import accept
    from clusterwright.operate.stack.known import known

    return accept(cluster, known(cluster, report), report)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.outcome import show_acceptance
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.accept import accept
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.stack.known import on_cloud

    far = on_cloud(arguments.cluster)
    cluster = far or Cluster.named(arguments.cluster)
    with progress(as_json=arguments.json) as report:
        acceptance = _on_cloud(far, report) if far else accept(cluster, report)
    page = str(cluster.home.reports / "accept.html")
    show_acceptance(acceptance, page, as_json=arguments.json)
    return FINE if acceptance.accepted else FAILED
