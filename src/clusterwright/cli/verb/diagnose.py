"""`clusterwright diagnose`: what is wrong, and everything that speaks for it in one archive."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.event import Report
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.diagnose import Diagnosis

_ABOUT = """Name the likely cause, and collect what speaks for it.

Logs, states, versions and the last runs of every node go into one archive, without secrets; nodes
that do not answer are read from outside. The most likely cause is printed first.

On a cloud: what nodes reported, what the stack has made, the consoles of nodes that are not accepted, and
what these and the controllers answer. None of them has to live for it."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "diagnose",
        run,
        _ABOUT,
        examples={
            "clusterwright diagnose lab": "",
            "clusterwright diagnose lab --out ticket-4711.tar.gz": "for whoever is to help",
        },
    )
    add_target(parser)
    parser.add_argument("--out", metavar="FILE", help="the archive (default: NAME-diagnosis.tar.gz)")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.diagnose import diagnose
    from clusterwright.operate.stack.known import on_cloud

    far = on_cloud(arguments.cluster)
    cluster = far or Cluster.named(arguments.cluster)
    archive = Path(arguments.out or f"{cluster.name}-diagnosis.tar.gz")
    with progress(as_json=arguments.json) as report:
        diagnosis = _on_cloud(far, archive, report) if far else diagnose(cluster, archive, report)
    if arguments.json:
        print(json.dumps({"diagnosis": asdict(diagnosis)}, default=str))
    else:
        _print(diagnosis)
    return FINE


def _on_cloud(cluster: Cluster, archive: Path, report: Report) -> Diagnosis:
    from clusterwright.operate.stack.diagnose import diagnose
    from clusterwright.operate.stack.known import known

    return diagnose(cluster, known(cluster, report), archive, report)


def _print(diagnosis: Diagnosis) -> None:
    from clusterwright.cli.terminal.style import paint

    for number, cause in enumerate(diagnosis.causes, 1):
        where = f"  ({', '.join(cause.nodes)})"
        print(f"{number}. {paint(cause.cause, 'bold', sys.stdout)}{where}")
        for row in cause.evidence:
            lines = row.text.strip().splitlines() or [""]
            print(paint(f"     {row.node} {row.origin}: {lines[-1].strip()}", "dim", sys.stdout))
        print(f"   {paint('remedy:', 'green', sys.stdout)} {cause.remedy}")
    if not diagnosis.causes:
        print("nothing that is known to go wrong was found in the logs")
    if diagnosis.unreachable:
        print(f"{paint('did not answer:', 'bold red', sys.stdout)} {', '.join(diagnosis.unreachable)}")
    print(f"everything is in {diagnosis.archive}")
