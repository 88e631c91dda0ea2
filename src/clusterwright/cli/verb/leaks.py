"""`clusterwright leaks`: what outlived a cluster on a cloud."""

from __future__ import annotations

import argparse
import json

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE
from clusterwright.finding import Where, refuse

_ABOUT = """List what a cloud has in the name of a cluster, and no stack knows.

By the tag or label that everything has from its first moment on: what was being made when somebody was
killed, what was made by hand, what stayed when the stack went. Nothing is changed. Exits with 1 when there
is something. After `destroy`, name the description: it says where to look."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "leaks",
        run,
        _ABOUT,
        examples={
            "clusterwright leaks aws-p5": "beside what its stack holds",
            "clusterwright leaks clusters/aws-p5.yaml": "also after `destroy`",
        },
    )
    add_target(parser)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import description
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.home import ClusterHome
    from clusterwright.operate.stack.beside import stack_name
    from clusterwright.operate.stack.folder import StackFolder
    from clusterwright.operate.stack.known import known
    from clusterwright.operate.stack.left import as_findings, left, usd_per_hour
    from clusterwright.operate.stack.work import cloud_of
    from clusterwright.plan.linked import linked
    from clusterwright.spec.load import load

    spec = load(description(arguments.cluster)).spec
    part = linked(spec)
    if cloud_of(spec) is None and part is None:
        what, remedy = "no cloud makes it", "Name a cluster on AWS or Google Cloud"
        raise refuse("CW9013", Where(path=arguments.cluster), what, remedy)
    home = ClusterHome.of(stack_name(spec))
    kept = None
    if StackFolder(home).exists():
        with progress(as_json=arguments.json) as report:
            kept = known(Cluster(home), report).kept
    found = left(spec, kept)
    if arguments.json:
        site = part.site if part else spec.site or next(iter(spec.sites.values()))
        region = str(getattr(site, "region", ""))
        rows = [
            {"kind": one.kind, "id": one.identity, "usd_per_hour": usd_per_hour(one, region)} for one in found
        ]
        print(json.dumps({"cluster": spec.cluster, "left": rows}))
    else:
        show(as_findings(found, spec), as_json=False)
        print(f"{spec.cluster}: {len(found) or 'nothing'} left behind")
    return FAILED if found else FINE
