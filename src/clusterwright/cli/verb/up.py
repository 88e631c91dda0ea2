"""`clusterwright up`: from a description to an accepted cluster."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_rehearsal, add_rolling, add_target
from clusterwright.cli.ending import FAILED, FINE

if TYPE_CHECKING:
    from clusterwright.operate.source import Source
    from clusterwright.plan.linked import Linked

_ABOUT = """Bring a cluster up, or to what its description says now.

Says first what changes on which node, makes what is missing, repairs what drifted, and proves
the result. It can be stopped at any moment; run again, it goes on. It refuses to take a node
away from running jobs.

A lab is made on this machine, a cluster on AWS or Google Cloud there, by Pulumi's engine and with the
credentials that the cloud's own tools use here. Beside own machines, those of a linked site are made so
first, and let in.

With --roll, what disturbs jobs goes through the cluster node by node while jobs run on the others: a
node gets no new jobs, ends those that it has, is changed, boots at most once, passes its gates and takes
jobs again. The first node of a pool goes alone; when it fails, no other is touched. `diff` shows the
order. Nodes that converge themselves keep to it by themselves, also when this command is stopped."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "up",
        run,
        _ABOUT,
        resumes=True,
        examples={
            "clusterwright up clusters/lab.yaml": "a lab on this machine",
            "clusterwright up --lab clusters/aws-p5.yaml --nodes gpu=4": "rehearse any description there",
            "clusterwright up clusters/aws-p5.yaml": "a cluster on AWS",
            "clusterwright up lab": "repair what drifted since",
            "clusterwright up lab --roll": "a new driver, while jobs run",
            "clusterwright up lab --roll --batch 4 --wait '12 h'": "four nodes at a time",
            "clusterwright up aws-p5 --roll --batch 4": "on a cloud, where nodes wait as long as their jobs",
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
    from clusterwright.cli.rolling import refuse_what_clouds_do_not_take, rolling
    from clusterwright.cli.target import beside_own, is_on_cloud, source
    from clusterwright.cli.terminal.outcome import show_outcome
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.course import Wishes
    from clusterwright.operate.up import up

    wanted = source(arguments.cluster, arguments)
    if is_on_cloud(wanted):
        refuse_what_clouds_do_not_take(arguments)
        return _on_cloud(wanted, arguments)
    if (part := beside_own(wanted)) and not _made_beside(wanted, part, arguments):
        return FAILED
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


def _on_cloud(wanted: Source, arguments: argparse.Namespace) -> int:
    from clusterwright.cli.rolling import rolling
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.cli.terminal.stack import show_changes, show_stack_outcome
    from clusterwright.operate.stack.up import apply, cost_before, preview, refuse_to_disturb
    from clusterwright.operate.stack.work import begun

    roll = rolling(arguments)
    silent, accept = arguments.json, not arguments.no_accept
    with ExitStack() as held:
        with progress(as_json=silent) as report:
            work = held.enter_context(begun(wanted, report, accept=accept, roll=roll.batch if roll else 0))
            changes = preview(work, report)
        show_changes(changes, cost_before(work), work.prepared.plan.cost, as_json=silent)
        if not arguments.disturb:
            refuse_to_disturb(work, changes)
        with progress(as_json=silent) as report:
            outcome = apply(work, changes, report)
    show_stack_outcome(outcome, as_json=silent)
    return FINE if outcome.ok else FAILED


def _made_beside(wanted: Source, part: Linked, arguments: argparse.Namespace) -> bool:
    """The machines of a cloud beside own ones: made by their stack, and let in."""
    from clusterwright.cli.terminal.findings import show
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.home import ClusterHome
    from clusterwright.operate.stack.beside import let_in, stack_name
    from clusterwright.operate.stack.known import known

    if _on_cloud(wanted, arguments) != FINE:
        return False
    with progress(as_json=arguments.json) as report:
        stack = known(Cluster(ClusterHome.of(stack_name(part.spec))), report)
        wrong = let_in(wanted, part, stack.machines, report)
    show(wrong, as_json=arguments.json, stream=True)
    return not wrong


def _install() -> None:
    from clusterwright.providers.lab.host import install_dependencies, packages_to_install

    packages = packages_to_install()
    if packages:
        print(f"installing {', '.join(packages)}", file=sys.stderr, flush=True)
        install_dependencies()
