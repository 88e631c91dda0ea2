"""`clusterwright node`: one node at a time."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

from clusterwright.cli.arguments import Verbs, add_target
from clusterwright.cli.ending import FAILED, FINE

_ABOUT = """Add, replace, drain or resume nodes; break simulated ones on purpose.

NODES is a node set as Slurm writes it: gpu-001, gpu-[001-004]. No other node is rebuilt or restarted."""


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
        "Rebuild nodes from the image.\n\nRuns no task on any other node.",
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
    from pathlib import Path

    from clusterwright.cli.target import is_description
    from clusterwright.cli.terminal.outcome import show_outcome
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate import node
    from clusterwright.operate.cluster import Cluster
    from clusterwright.operate.source import Source

    target = arguments.cluster
    source = Source(Path(target)) if is_description(target) else Cluster.named(target).source()
    with progress(as_json=arguments.json) as report:
        outcome = node.add(source, arguments.nodes, report)
    show_outcome(outcome, as_json=arguments.json)
    return FINE if outcome.ok else FAILED


def _run_replace(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.outcome import show_outcome
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate import node
    from clusterwright.operate.cluster import Cluster

    cluster = Cluster.named(arguments.cluster)
    with progress(as_json=arguments.json) as report:
        outcome = node.replace(cluster, arguments.nodes, report, disturb=arguments.disturb)
    show_outcome(outcome, as_json=arguments.json)
    return FINE if outcome.ok else FAILED


def _run_drain(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate import node
    from clusterwright.operate.cluster import Cluster

    cluster, wait = Cluster.named(arguments.cluster), not arguments.no_wait
    with progress(as_json=arguments.json) as report:
        drained = node.drain(cluster, arguments.nodes, report, reason=arguments.reason, wait=wait)
    return FINE if drained else FAILED


def _run_resume(arguments: argparse.Namespace) -> int:
    from clusterwright.cli.terminal.progress import progress
    from clusterwright.operate import node
    from clusterwright.operate.cluster import Cluster

    with progress(as_json=arguments.json) as report:
        node.resume(Cluster.named(arguments.cluster), arguments.nodes, report)
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
