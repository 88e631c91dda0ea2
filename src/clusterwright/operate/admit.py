"""Nodes that a rolling change holds: proven by themselves, and given jobs again."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from clusterwright.accept.node_gates import GATE_UNIT
from clusterwright.accept.one_node import prove_alone
from clusterwright.accept.result import GateResult
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.operate.queue import STOPPED, TAKES_JOBS, Queue
from clusterwright.operate.remote import run_on
from clusterwright.operate.work import Work

REGISTER_SECONDS = 60.0
"""How long a node may take from a started slurmd to a state in which Slurm gives it jobs."""
RESUME_SECONDS = 30.0
_LOOK_SECONDS = 2.0
_UP = "systemctl is-system-running --wait"
"""A node answers over SSH before everything on it has started."""
_REFUSED = f"systemctl is-failed --quiet {GATE_UNIT}"
_AT_ONCE = 16
_REASON_LENGTH = 200


def admit(
    work: Work, queue: Queue | None, nodes: Collection[str], report: Report
) -> Mapping[str, GateResult]:
    """Run the gates of these nodes, and resume those that pass; the first failed gate of each other.

    One that fails stays drained, with what was seen as Slurm's reason. A drain of a person's stays too.
    """
    failed = dict(_failed(work, queue, nodes, report))
    if queue is None:
        return failed
    free = sorted(keep_out(queue, nodes, failed) - set(failed))
    if free:
        queue.resume(free)
        for name in queue.take_up(free, RESUME_SECONDS, TAKES_JOBS):
            failed[name] = _slurm_state(queue, name, "takes jobs")
    for name in sorted(set(free) - set(failed)):
        report(Event("resume", "ok", "takes jobs", name))
    return failed


def keep_out(queue: Queue, nodes: Collection[str], failed: Mapping[str, GateResult]) -> set[str]:
    """Say in Slurm why nodes that failed stay drained; those of `nodes` that a roll holds, failed or not."""
    held = set(queue.held()) & {*nodes}
    for name in sorted(held & set(failed)):
        gate = failed[name]
        words = f"{STOPPED}{gate.name}: expected {gate.expected}, seen {gate.seen}"
        queue.update([name], "drain", words[:_REASON_LENGTH])
    return held


def _failed(
    work: Work, queue: Queue | None, nodes: Collection[str], report: Report
) -> Mapping[str, GateResult]:
    failed: dict[str, GateResult] = {}
    targets = {name: one for name, one in work.machines.targets(work.handoff).items() if name in nodes}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(partial(run_on, command=_UP, timeout=REGISTER_SECONDS), targets.values()))
    compute = {node.name for node in work.handoff.with_role("compute")} & {*nodes} & {*targets}
    late = _unregistered(queue, {name: targets[name] for name in compute}) if queue else ()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        proofs = pool.map(lambda name: _prove(work, name, targets.get(name)), sorted(nodes))
        for name, results in zip(sorted(nodes), proofs, strict=True):
            bad = [gate for gate in results if gate.status == "fail"]
            if not bad and name in late and queue:
                bad = [_slurm_state(queue, name, "registered with Slurm")]
            for gate in bad:
                words = f"{gate.name}: expected {gate.expected}, seen {gate.seen}"
                report(Event("gates", "failed", words, name))
            if bad:
                failed[name] = bad[0]
            else:
                report(Event("gates", "ok", f"{len(results)} gates passed", name))
    return failed


def _unregistered(queue: Queue, nodes: Mapping[str, Target]) -> Collection[str]:
    """Wait for slurmd on these nodes, but for none whose gate has said already that it may not start."""
    deadline = time.monotonic() + REGISTER_SECONDS
    refused: set[str] = set()
    while late := set(queue.take_up(set(nodes) - refused, _LOOK_SECONDS)):
        refused |= {name for name in late if run_on(nodes[name], _REFUSED).code == 0}
        if late <= refused or time.monotonic() > deadline:
            break
    return late | refused


def _prove(work: Work, name: str, target: Target | None) -> list[GateResult]:
    node = work.handoff.by_name[name]
    if target is None:
        return [GateResult("answers", name, "fail", "a machine", "none")]
    units = (unit if "." in unit else f"{unit}.service" for unit in work.desired.wanted[name].active_units)
    return prove_alone(work.handoff, node, target, sorted(units))


def _slurm_state(queue: Queue, name: str, expected: str) -> GateResult:
    state, reason = queue.states().get(name, ("unknown to Slurm", ""))
    return GateResult("slurm-state", name, "fail", expected, f"{state} {reason}".strip())
