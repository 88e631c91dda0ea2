"""`clusterwright validate`: is the description right?"""

from __future__ import annotations

import argparse
from pathlib import Path

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE, MISTAKEN
from clusterwright.finding import Finding, Refused, Severity

_ABOUT = """Check a description.

Every mistake is shown at once, with its place and what to do. Nothing is made and nothing
is asked over the network. Warnings do not fail. A lock beside a description is only read:
`clusterwright lock --check` holds it against what the description needs."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "validate",
        run,
        _ABOUT,
        examples={
            "clusterwright validate clusters/lab.yaml": "",
            "clusterwright validate clusters/*.yaml": "all of them, as a hook before a commit",
            "clusterwright validate --json lab.yaml": "for an editor or a pipeline",
        },
    )
    parser.add_argument(
        "clusters", metavar="CLUSTER", nargs="+", help="description files, or names of clusters that are up"
    )


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.findings import show

    findings: list[Finding] = []
    for target in arguments.clusters:
        found, words = _checked(target)
        findings += found
        if words and not arguments.json:
            print(words)
    show(findings, as_json=arguments.json)
    return MISTAKEN if any(finding.severity is Severity.ERROR for finding in findings) else FINE


def _checked(target: str) -> tuple[tuple[Finding, ...], str]:
    """Findings, and a line in words when no error is among them."""
    from clusterwright.checks import check
    from clusterwright.cli.target import description
    from clusterwright.operate.lock import settled
    from clusterwright.spec.load import load

    try:
        file = description(target)
        if target.endswith(".lock.yaml"):
            return (), _lock(file)
        loaded = load(file)
    except Refused as refused:
        return refused.findings, ""
    findings = tuple(check(loaded.spec, where=loaded.where))
    if any(finding.severity is Severity.ERROR for finding in findings):
        return findings, ""
    try:
        settled(loaded.spec, loaded.where, file)
    except Refused as refused:
        return (*findings, *refused.findings), ""
    return findings, f"{file}: valid, cluster '{loaded.spec.cluster}' with {len(loaded.spec.pools)} pools"


def _lock(file: Path) -> str:
    from clusterwright.plan.software import load

    lock = load(file)
    return f"{file}: a lock for {lock.distribution} with {len(lock.pools)} pools"
