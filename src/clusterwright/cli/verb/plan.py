"""`clusterwright plan`: what a description becomes."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_rehearsal, add_target
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.operate.prepare import Prepared

_ABOUT = """Show what a description becomes.

Nodes, GPUs, fabric and watts as a table, with every warning. Nothing is made and nothing is asked
over the network; the same description gives the same plan."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "plan",
        run,
        _ABOUT,
        examples={
            "clusterwright plan clusters/lab.yaml": "",
            "clusterwright plan --lab clusters/aws-p5.yaml": "what its rehearsal on this machine would be",
            "clusterwright plan --json lab.yaml | jq .nodes": "every node with address, place and roles",
        },
    )
    add_target(parser)
    add_rehearsal(parser)


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import source
    from clusterwright.operate.prepare import described, prepare

    prepared = prepare(described(source(arguments.cluster, arguments)))
    if arguments.json:
        print(json.dumps(_as_json(prepared), indent=1, sort_keys=True))
        return FINE
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.plan_table import print_plan

    print_plan(prepared.plan)
    show(prepared.findings, as_json=False)
    return FINE


def _as_json(prepared: Prepared) -> dict[str, object]:
    """The hand-off, which is what a program wants of a plan, its figures, and what there is to say."""
    from clusterwright.plan.summary import summary

    findings = [finding.as_json() for finding in prepared.findings]
    document = json.loads(prepared.handoff.dumps())
    return {**document, "summary": summary(prepared.plan).as_json(), "findings": findings}
