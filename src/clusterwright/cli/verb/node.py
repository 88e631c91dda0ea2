"""`clusterwright node`: one node at a time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE
from clusterwright.finding import Refused, Where, refuse

if TYPE_CHECKING:
    from clusterwright.event import Report
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.node import Asked

_ABOUT = """Add, replace, drain or resume nodes; break simulated ones on purpose.

NODES is a node set as Slurm writes it: gpu-001, gpu-[001-004]. No other node is rebuilt or restarted.
Of a cluster on a cloud Slurm is asked through the door that `clusterwright ssh` takes."""


def add(verbs: Verbs) -> None:
    parser = verbs.add("node", None, _ABOUT, examples={"clusterwright node replace lab gpu-001": ""})
    actions = Verbs(parser, "what to do")
    _add(actions)
    _replace(actions)
    _drain(actions)
    _resume(actions)
    _break(actions)
    _mend(actions)


def _add(actions: Verbs) -> None:
    parser = actions.add(
        "add",
        _run_add,
        "Bring up nodes that the description names already.\n\n"
        "Raise the pool's count in the description first. Running jobs are not disturbed.",
        resumes=True,
        examples={"clusterwright node add clusters/lab.yaml gpu-003": ""},
    )
    _targets(parser)


def _replace(actions: Verbs) -> None:
    parser = actions.add(
        "replace",
        _run_replace,
        "Rebuild nodes from the image.\n\nRuns no task on any other node. On a cloud jobs on them end first, "
        "then\ntheir machines are made anew and the cluster proves itself; nothing else is touched.",
        resumes=True,
        examples={"clusterwright node replace lab gpu-001": ""},
    )
    _targets(parser)
    parser.add_argument("--disturb", action="store_true", help="go on although running jobs will be lost")


def _drain(actions: Verbs) -> None:
    parser = actions.add(
        "drain",
        _run_drain,
        "Give nodes no new jobs, and wait for the running ones.",
        resumes=True,
        examples={"clusterwright node drain lab gpu-001 --reason 'fan noise'": ""},
    )
    _targets(parser)
    parser.add_argument("--reason", default="drained by the operator", help="shown by sinfo -R")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for running jobs")


def _resume(actions: Verbs) -> None:
    parser = actions.add(
        "resume",
        _run_resume,
        "Give drained nodes jobs again.",
        resumes=True,
        examples={"clusterwright node resume lab gpu-001": ""},
    )
    _targets(parser)


def _break(actions: Verbs) -> None:
    parser = actions.add(
        "break",
        _run_break,
        "Break the simulated hardware of a lab's nodes.\n\n"
        "The node's gate finds it within two minutes and takes the node out of the queue, or at once with\n"
        "`clusterwright accept`. Without a FAULT: what can be broken. `node mend` takes it back.",
        examples={
            "clusterwright node break lab": "every fault and what it is",
            "clusterwright node break lab gpu-001 ecc --number 3": "memory errors on GPU 3",
        },
    )
    _targets(parser, nargs="?")
    parser.add_argument(
        "fault", metavar="FAULT", nargs="?", help="its name: ecc, xid, nvlink-down, nic-down …"
    )
    parser.add_argument(
        "--number", metavar="N", type=int, default=0, help="which GPU or fabric card (default 0)"
    )


def _mend(actions: Verbs) -> None:
    parser = actions.add(
        "mend",
        _run_mend,
        "Take back what `node break` did.",
        examples={"clusterwright node mend lab gpu-001": "all of it"},
    )
    _targets(parser)
    parser.add_argument("fault", metavar="FAULT", nargs="?", help="only this fault")
    parser.add_argument("--number", metavar="N", type=int, help="only of this GPU or card")


def _targets(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    add_target(parser)
    parser.add_argument("nodes", metavar="NODES", nargs=nargs, help="a node set: gpu-001, gpu-[001-004]")


def _run_add(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import as_it_stands
    from clusterwright.cli.terminal.outcome import show_outcome
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate import node
    from clusterwright.operate.stack.known import on_cloud

    if far := on_cloud(arguments.cluster):
        raise _only_up(far.name, "add", "a cloud makes whatever the description names and is not there")
    with progress(as_json=arguments.json) as report:
        outcome = node.add(as_it_stands(arguments.cluster), arguments.nodes, report)
    show_outcome(outcome, as_json=arguments.json)
    return FINE if outcome.ok else FAILED


def _run_replace(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.outcome import show_outcome
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate import node
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.stack.known import on_cloud

    if far := on_cloud(arguments.cluster):
        return _replace_on_cloud(far, arguments)
    cluster = Cluster.named(arguments.cluster)
    with progress(as_json=arguments.json) as report:
        outcome = node.replace(cluster, arguments.nodes, report, disturb=arguments.disturb)
    show_outcome(outcome, as_json=arguments.json)
    return FINE if outcome.ok else FAILED


def _replace_on_cloud(cluster: Cluster, arguments: argparse.Namespace) -> int:
    from clusterwright.cli.target import as_it_stands
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.cli.terminal.stack import show_stack_outcome
    from clusterwright.operate.stack.known import known
    from clusterwright.operate.stack.replace import Replacement
    from clusterwright.operate.stack.work import begun

    with progress(as_json=arguments.json) as report:
        found = known(cluster, report)
        names = found.nodes(arguments.nodes)
        with begun(as_it_stands(arguments.cluster), report, accept=found.asks) as work:
            outcome = Replacement(work, names, arguments.disturb).run(report)
    show_stack_outcome(outcome, as_json=arguments.json)
    return FINE if outcome.ok else FAILED


def _asked(target: str, report: Report) -> Asked:
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.stack.known import known, on_cloud
    from clusterwright.operate.stack.way import OnCloud

    far = on_cloud(target)
    return OnCloud(known(far, report)) if far else Cluster.named(target)


def _only_up(cluster: str, verb: str, why: str) -> Refused:
    remedy = f"Run `clusterwright up {cluster}`: it says first what it makes"
    return refuse("CW8164", Where(path=f"node {verb} {cluster}"), why, remedy)


def _run_drain(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate import node

    wait = not arguments.no_wait
    with progress(as_json=arguments.json) as report:
        cluster = _asked(arguments.cluster, report)
        drained = node.drain(cluster, arguments.nodes, report, reason=arguments.reason, wait=wait)
    return FINE if drained else FAILED


def _run_resume(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate import node

    with progress(as_json=arguments.json) as report:
        node.resume(_asked(arguments.cluster, report), arguments.nodes, report)
    return FINE


def _run_break(arguments: argparse.Namespace) -> int:
    from clusterwright.operate import broken
    from clusterwright.operate.cluster import Cluster

    if not arguments.fault:
        _show(broken.faults(), as_json=arguments.json)
        return FINE
    cluster = Cluster.named(arguments.cluster)
    nodes = broken.break_hardware(cluster, arguments.nodes, arguments.fault, arguments.number)
    words = broken.faults(arguments.number)[arguments.fault]
    _show(dict.fromkeys(nodes, words), as_json=arguments.json)
    return FINE


def _run_mend(arguments: argparse.Namespace) -> int:
    from clusterwright.operate import broken
    from clusterwright.operate.cluster import Cluster

    cluster = Cluster.named(arguments.cluster)
    nodes = broken.mend_hardware(cluster, arguments.nodes, arguments.fault, arguments.number)
    _show(dict.fromkeys(nodes, "mended"), as_json=arguments.json)
    return FINE


def _show(rows: Mapping[str, str], *, as_json: bool) -> None:
    """A name and what is told of it, a line each."""
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    width = max(map(len, rows), default=0)
    for name, words in rows.items():
        print(f"{name:<{width}}  {words}")
