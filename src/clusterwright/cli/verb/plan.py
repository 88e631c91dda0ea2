"""`clusterwright plan`: what a description becomes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_rehearsal, add_target
from clusterwright.cli.ending import FINE, MISTAKEN
from clusterwright.finding import Finding, Severity

if TYPE_CHECKING:
    from clusterwright.operate.live import Look
    from clusterwright.operate.prepare import Described, Prepared

_ABOUT = """Show what a description becomes.

Nodes, GPUs, fabric, watts and cost as a table, with every warning. Nothing is made and nothing is
asked over the network; the same description gives the same plan.

--live asks the cloud as well, with the credentials that its own tools use: quotas and what is left of
them, zones, reservations, images, networks, and a trial of each pool's launch. It makes nothing. Where
something would fail, the exit code is 2; a permission that is missing is a warning that names it."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "plan",
        run,
        _ABOUT,
        examples={
            "clusterwright plan clusters/lab.yaml": "",
            "clusterwright plan --live clusters/aws-p5.yaml": "with what the account itself says",
            "clusterwright plan --lab clusters/aws-p5.yaml": "what its rehearsal on this machine would be",
            "clusterwright plan --json lab.yaml | jq .nodes": "every node with address, place and roles",
        },
    )
    add_target(parser)
    add_rehearsal(parser)
    parser.add_argument("--live", action="store_true", help="ask the cloud too, with your credentials")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import source
    from clusterwright.operate.prepare import described, prepare

    description = described(source(arguments.cluster, arguments))
    prepared = prepare(description)
    look = _look(prepared, description) if arguments.live else None
    findings = (*prepared.findings, *(look.verdict.findings if look else ()))
    if arguments.json:
        print(json.dumps(_as_json(prepared, findings, look), indent=1, sort_keys=True))
        return _ending(findings)
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.live_table import print_look
    from clusterwright.cli.terminal.plan_table import print_plan

    print_plan(prepared.plan)
    if look:
        print_look(look)
    show(findings, as_json=False)
    return _ending(findings)


def _look(prepared: Prepared, description: Described) -> Look:
    from datetime import UTC, datetime

    from clusterwright.operate.live import live

    return live(prepared.plan, description.loaded.where, datetime.now(UTC))


def _ending(findings: Iterable[Finding]) -> int:
    return MISTAKEN if any(finding.severity is Severity.ERROR for finding in findings) else FINE


def _as_json(prepared: Prepared, findings: Iterable[Finding], look: Look | None) -> dict[str, object]:
    """The hand-off, which is what a program wants of a plan, its figures, and what there is to say."""
    from clusterwright.plan.summary import summary

    document = json.loads(prepared.handoff.dumps())
    rows = [finding.as_json() for finding in findings]
    asked = {"live": look.as_json()} if look else {}
    return {**document, "summary": summary(prepared.plan).as_json(), "findings": rows, **asked}
