"""`clusterwright render`: the files of the whole cluster, as they will stand on its nodes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from clusterwright.cli.arguments import Verbs, add_rehearsal, add_target
from clusterwright.cli.ending import FINE

_ABOUT = """Write the cluster's files into a folder.

slurm.conf, gres.conf, topology, hosts, Prometheus targets …, as they will stand on the nodes. The same
description gives the same bytes, so the folder can be kept in git and reviewed as a diff.
It also holds NAME.handoff.json, the document that Ansible's inventory plugin reads. Keys are never in it."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "render",
        run,
        _ABOUT,
        examples={
            "clusterwright render clusters/lab.yaml --out rendered": "",
            "git diff rendered": "what a change of the description comes to",
        },
    )
    add_target(parser)
    parser.add_argument("--out", metavar="DIR", required=True, help="folder to write")
    add_rehearsal(parser)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import source
    from clusterwright.cli.terminal.findings import show
    from clusterwright.operate.prepare import described, prepare
    from clusterwright.render.file import NodeFile
    from clusterwright.render.write import tree

    prepared = prepare(described(source(arguments.cluster, arguments)))
    handoff = NodeFile(f"/{prepared.handoff.name}.handoff.json", prepared.handoff.dumps(), roles=())
    written = tree([*prepared.files, handoff], Path(arguments.out))
    if arguments.json:
        files = [file.path for file in (*prepared.files, handoff)]
        report = {"files": sorted(files), "changed": written.changed, "removed": written.removed}
        print(json.dumps({**report, "findings": [row.as_json() for row in prepared.findings]}, indent=1))
        return FINE
    for mark, paths in (("wrote", written.changed), ("removed", written.removed)):
        for path in paths:
            print(f"{mark} {Path(arguments.out) / path}")
    if not (written.changed or written.removed):
        print(f"{arguments.out} is current")
    show(prepared.findings, as_json=False)
    return FINE
