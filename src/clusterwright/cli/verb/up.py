"""`clusterwright up`: from a description to an accepted cluster."""

from __future__ import annotations

import argparse
import sys

from clusterwright.cli.arguments import Verbs, add_rehearsal, add_rolling, add_target
from clusterwright.cli.ending import FAILED, FINE

_ABOUT = """Bring a cluster up, or to what its description says now.

Says first what changes on which node, makes what is missing, repairs what drifted, and proves
the result. It can be stopped at any moment; run again, it goes on. It refuses to take a node
away from running jobs.

With --roll, what disturbs jobs goes through the cluster node by node while jobs run on the others: a
node gets no new jobs, ends those that it has, is changed, boots at most once, passes its gates and takes
jobs again. The first node of a pool goes alone; when it fails, no other is touched. `diff` shows the
order."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "up",
        run,
        _ABOUT,
        resumes=True,
        examples={
            "clusterwright up clusters/lab.yaml": "a lab on this machine",
            "clusterwright up --lab clusters/aws-p5.yaml --nodes gpu=4": "rehearse any description there",
            "clusterwright up lab": "repair what drifted since",
            "clusterwright up lab --roll": "a new driver, while jobs run",
            "clusterwright up lab --roll --batch 4 --wait '12 h'": "four nodes at a time",
            "clusterwright up lab --json | jq -c": "for a pipeline: an event a line, the outcome last",
        },
    )
    add_target(parser)
    add_rehearsal(parser)
    parser.add_argument("--full", action="store_true", help="run every task, also where nothing differs")
    parser.add_argument("--disturb", action="store_true", help="go on although running jobs will be lost")
    add_rolling(parser)
    parser.add_argument("--no-accept", action="store_true", help="do not run the acceptance gates")
    parser.add_argument(
        "--install-deps",
        action="store_true",
        help="install the Debian or Ubuntu packages that a lab needs on this machine",
    )


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.rolling import rolling
    from clusterwright.cli.target import source
    from clusterwright.cli.terminal.outcome import show_outcome
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.up import Wishes, up

    wanted = source(arguments.cluster, arguments)
    if arguments.install_deps:
        _install()
    wishes = Wishes(
        full=arguments.full,
        disturb=arguments.disturb,
        roll=rolling(arguments),
        rebuild=arguments.rebuild,
        accept=not arguments.no_accept,
    )
    with progress(as_json=arguments.json) as report:
        outcome = up(wanted, report, wishes)
    show_outcome(outcome, as_json=arguments.json, welcome=True)
    return FINE if outcome.ok else FAILED


def _install() -> None:
    from clusterwright.providers.lab.host import install_dependencies, packages_to_install

    packages = packages_to_install()
    if packages:
        print(f"installing {', '.join(packages)}", file=sys.stderr, flush=True)
        install_dependencies()
