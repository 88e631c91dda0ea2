"""A change taken through a running cluster: a few nodes at a time, each when its jobs have ended.

Slurm's own drain, and no `scontrol reboot`: between a node's last job and its boot its software is exchanged.
slurm.schedmd.com/scontrol.html: a node that is drained runs its jobs to their end and gets no new ones, and
keeps that state and its reason while it boots. What was done is not kept here: Slurm knows which nodes are
held and what for, and a node knows what it has.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from clusterwright.accept.result import GateResult
from clusterwright.catalog.changes import Impact
from clusterwright.change import Batch, batches
from clusterwright.converge.result import NodeResult
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where
from clusterwright.operate.admit import admit, keep_out
from clusterwright.operate.configure import configure
from clusterwright.operate.need import Need, wishes
from clusterwright.operate.queue import Queue
from clusterwright.operate.verdict import doubt
from clusterwright.operate.work import Work
from clusterwright.spec.nodeset import fold


@dataclass(frozen=True, slots=True)
class Roll:
    """How a change is rolled."""

    batch: int = 1
    """Nodes of a pool at a time, after the first one."""
    wait: float = math.inf
    """Seconds that the jobs of a batch may take to end."""
    failures: int = 0
    """Nodes that may fail before it stops; the first node of a pool must not."""


@dataclass
class Rolled:
    """What came of it."""

    nodes: dict[str, NodeResult] = field(default_factory=dict)
    created: list[str] = field(default_factory=list)
    failed: list[Finding] = field(default_factory=list)


def empty(queue: Queue, nodes: Collection[str], reason: str, wait: float, report: Report) -> tuple[str, ...]:
    """Hold nodes and wait for their jobs. Those that still had jobs; then all are given back."""
    fresh = queue.hold(nodes, reason)
    for name in fresh:
        report(Event("drain", "started", f"gets no new jobs: {reason}", name))
    try:
        busy = queue.wait_until_empty(nodes, wait, lambda words: report(Event("drain", "progress", words)))
    except KeyboardInterrupt:
        _give_back(queue, fresh)
        raise
    if busy:
        _give_back(queue, fresh)
    return busy


def _give_back(queue: Queue, nodes: Collection[str]) -> None:
    """Nothing was done to them yet."""
    held = sorted(set(queue.held()) & {*nodes})
    if held:
        queue.resume(held)


def outlasted(cluster: str, nodes: Collection[str]) -> Finding:
    return Finding(
        "CW8019",
        Where(path=fold(nodes)),
        f"jobs on {fold(nodes)} did not end in the time that --wait gives; the nodes take jobs again",
        "Run the same command again later, or with a longer --wait; "
        f"`clusterwright status {cluster}` shows the jobs",
    )


def _way_on(cluster: str, name: str) -> str:
    return (
        f"Once it is mended, say so with `clusterwright node resume {cluster} {name}`, "
        "and run the same command: it goes on there"
    )


def held_back(cluster: str, name: str, gate: GateResult) -> Finding:
    """A node that an earlier run had under way."""
    return Finding(
        "CW8018",
        Where(path=name),
        f"{name} did not come through: gate {gate.name}: expected {gate.expected}, seen {gate.seen}",
        f"It stays drained. {gate.remedy + '. ' if gate.remedy else ''}{_way_on(cluster, name)}",
    )


@dataclass
class Rolling:
    """One roll over one cluster."""

    work: Work
    needs: Mapping[str, Need]
    asked: Roll
    report: Report
    sick: Collection[str] = ()
    """Nodes that took no jobs before: they come last, and that they fail says nothing of the change."""
    full: bool = False
    done: Rolled = field(default_factory=Rolled)

    def run(self) -> Rolled:
        order = batches(self.work.handoff, self.needs, self.asked.batch, self.sick)
        failures = 0
        for number, batch in enumerate(order, 1):
            first = f", the first of pool '{batch.pool}'" if batch.canary else ""
            words = (
                f"{number} of {len(order)}: {fold(batch.nodes)}{first}: {self.needs[batch.nodes[0]].words}"
            )
            self.report(Event("roll", "started", words))
            failed = self._turn(batch)
            failures += len(failed or ())
            if failed is None or (failed and batch.canary) or failures > self.asked.failures:
                self.report(Event("roll", "failed", f"stopped at {number} of {len(order)}"))
                return self.done
        self.report(Event("roll", "ok", f"{len(self.needs)} nodes in {len(order)} turns"))
        return self.done

    def _turn(self, batch: Batch) -> set[str] | None:
        """Everything from the drain to the next job; nodes that failed, and were well before.

        None when jobs outlasted the wait.
        """
        queue = self.work.queue
        if queue:
            reason = self.needs[batch.nodes[0]].words
            busy = empty(queue, batch.nodes, reason, self.asked.wait, self.report)
            if busy:
                self.done.failed.append(outlasted(self.work.home.name, busy))
                return None
        stuck = self._change(batch.nodes)
        if queue and stuck:
            keep_out(queue, batch.nodes, stuck)
        well = [name for name in batch.nodes if name not in stuck]
        stuck |= admit(self.work, queue, well, self.report)
        for name, gate in sorted(stuck.items()):
            self.done.failed.append(self._finding(batch, name, gate))
        return set(stuck) - {*self.sick}

    def _change(self, nodes: tuple[str, ...]) -> dict[str, GateResult]:
        """Bring the nodes to what is wanted and boot them once; what kept one from it."""
        doubt(self.work.home)
        anew = [name for name in nodes if self.needs[name].impact is Impact.REPLACE]
        stuck: dict[str, GateResult] = {}
        try:
            if anew:
                self.work.machines.remove(anew, self.report)
                self.done.created += anew
            targets = self.work.ensure(nodes, self.report)
            results = configure(self.work.desired, targets, self.report, full=self.full)
            self.done.nodes |= results
            stuck = {
                name: GateResult(
                    "converge", name, "fail", "every task done", f"{node.failed_task} {node.message}"
                )
                for name, node in results.items()
                if node.status in ("failed", "unreachable")
            }
            boot = [name for name in nodes if self.needs[name].impact is Impact.REBOOT and name not in stuck]
            if boot:
                self.work.reboot(boot, self.report)
        except Refused as refused:
            stuck |= _told(refused, nodes)
        return stuck

    def _finding(self, batch: Batch, name: str, gate: GateResult) -> Finding:
        first = f", the first of pool '{batch.pool}'," if batch.canary else ""
        what = f"gate {gate.name}: expected {gate.expected}, seen {gate.seen}"
        rest = "no other node was touched after it" if name not in self.sick else "it took no jobs before"
        return Finding(
            "CW8018",
            Where(path=name),
            f"{name}{first} did not come through: {what}",
            f"It stays drained, and {rest}. {gate.remedy + '. ' if gate.remedy else ''}"
            f"{_way_on(self.work.home.name, name)}. "
            f"To go back: {self._way_back(batch.pool, self.needs[name])}",
        )

    def _way_back(self, pool: str, need: Need) -> str:
        if not need.moves:
            return "put the description back as it was and run the same command"
        return (
            f"wish for `versions: {wishes(need.moves)}`, run `clusterwright lock`, and "
            f"`clusterwright up {self.work.home.name} --roll --rebuild {pool}` makes moved nodes anew"
        )


def _told(refused: Refused, nodes: Collection[str]) -> dict[str, GateResult]:
    """Findings by the node that they name; one that names none is about all."""
    found: dict[str, GateResult] = {}
    for finding in refused.findings:
        for name in (finding.where.path,) if finding.where.path in nodes else nodes:
            found[name] = GateResult(
                "boot", name, "fail", "a node that answers", finding.what, finding.remedy
            )
    return found
