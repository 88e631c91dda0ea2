"""`up`: from a description to an accepted cluster, from wherever it is now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from clusterwright.catalog.changes import Impact
from clusterwright.change import diff, impact_by_node
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Severity
from clusterwright.handoff import Handoff
from clusterwright.operate.configure import configure, install
from clusterwright.operate.desired import Desired
from clusterwright.operate.disturb import queue_of, refuse_to_disturb
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.machines import Machines
from clusterwright.operate.outcome import Outcome
from clusterwright.operate.prepare import Prepared, described, prepare
from clusterwright.operate.prove import doubt, prove, was_accepted
from clusterwright.operate.provider import machines_of
from clusterwright.operate.source import Source, copy
from clusterwright.spec.nodeset import fold

_HALF_MADE = "half-made"
REGISTER_SECONDS = 60.0
"""How long a node may take from a started slurmd to a state in which Slurm gives it jobs."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one `up` is asked to do beyond the description."""

    full: bool = False
    """Run every task on every node, also where nothing differs."""
    disturb: bool = False
    """Go on although running jobs will be lost."""
    accept: bool = True
    """Run the acceptance gates where something changed."""
    replace: Collection[str] = ()
    """Rebuild these nodes, whatever they are like."""
    create: Collection[str] | None = None
    """Of the nodes that are missing, create only these; None for all."""
    only: Collection[str] | None = None
    """Create, look at and converge these nodes and no other; None for all."""


@dataclass(frozen=True)
class Work:
    """A cluster that is being worked on; its lock is held."""

    home: ClusterHome
    machines: Machines
    desired: Desired
    prepared: Prepared
    risks: tuple[Finding, ...]
    """What about this machine may get in the way."""
    before: Handoff | None
    """As last applied."""

    @property
    def handoff(self) -> Handoff:
        return self.prepared.handoff


@contextmanager
def begun(source: Source) -> Iterator[Work]:
    """Everything that is refused is refused here, before anything is made."""
    description = described(source)
    home = ClusterHome.of(description.spec.cluster)
    machines = machines_of(description.spec)
    prepare(description)
    unmet = machines.unmet()
    if any(finding.severity is Severity.ERROR for finding in unmet):
        raise Refused(unmet)
    with home.locked():
        before = home.handoff()
        source.record(home)
        previous = {node.name: node.address for node in before.nodes} if before else None
        prepared = prepare(description, ground=machines.ground(description.lock), previous=previous)
        desired = Desired(home, prepared.handoff, prepared.files, source.folder)
        yield Work(home, machines, desired, prepared, tuple(unmet), before)


def up(source: Source, report: Report, wishes: Wishes = Wishes()) -> Outcome:
    """Bring the cluster to its description; run again after any interruption, it goes on."""
    with begun(source) as work:
        present = work.machines.existing()
        costs = _costs(work, report)
        gone = sorted(set(present) - set(work.handoff.by_name))
        unlike = {node for node, impact in costs.items() if impact is Impact.REPLACE}
        rebuilt = sorted({*wishes.replace, *unlike} & set(present))
        if work.before and not wishes.disturb:
            disturbed = {node for node, impact in costs.items() if impact.disturbs_jobs}
            refuse_to_disturb(work.before, work.machines.targets(work.before), {*gone, *rebuilt, *disturbed})
        there = {node: state for node, state in present.items() if node not in rebuilt}
        chosen = _chosen(work, wishes, present)
        _bake(work, chosen, there, report)
        if gone or rebuilt:
            doubt(work.home)
            _take_from_slurm(work, {*gone, *rebuilt})
            work.machines.remove([*gone, *rebuilt], report)
        targets = work.machines.ensure(_only(work.handoff, chosen), _keys(work), report)
        looked = targets if wishes.only is None else {n: t for n, t in targets.items() if n in wishes.only}
        nodes = configure(work.desired, looked, report, full=wishes.full)
        created = tuple(name for name in targets if name not in present or name in rebuilt)
        outcome = Outcome(work.handoff, (*work.risks, *work.prepared.findings), created, tuple(gone), nodes)
        if created or gone or outcome.changed or outcome.broken:
            doubt(work.home)
        if outcome.broken:
            return outcome
        _reboot(work, [node for node in outcome.changed if costs.get(node) is Impact.REBOOT], report)
        copy(source.file, work.home.applied_description_file)
        work.home.record_applied(work.handoff, work.prepared.files)
        _put_to_work(work, targets, [*created, *outcome.changed], report)
        if wishes.accept and not was_accepted(work.home):
            outcome = replace(outcome, acceptance=prove(work.desired, targets, report))
        return outcome


def _costs(work: Work, report: Report) -> Mapping[str, Impact]:
    """Say what differs from what was last applied; the heaviest that it asks of each node."""
    if work.before is None:
        return {}
    changes = diff(work.before, work.handoff, work.home.files(), work.prepared.files)
    for change in changes:
        nodes = fold(change.nodes) or None
        report(Event("diff", "progress", f"{change.path} {change.what}: {change.impact.value}", nodes))
    return impact_by_node(changes)


def _take_from_slurm(work: Work, nodes: Collection[str]) -> None:
    """Slurm ends or requeues what ran there now; else it would believe in it until the node's time-out."""
    if work.before is None:
        return
    queue = queue_of(work.before, work.machines.targets(work.before))
    if queue:
        queue.take_away(nodes)


def _chosen(work: Work, wishes: Wishes, present: Collection[str]) -> set[str]:
    """Nodes of the description that are to be there afterwards."""
    chosen = set(work.handoff.by_name)
    return chosen if wishes.create is None else chosen & {*present, *wishes.create}


def _bake(work: Work, chosen: Collection[str], there: Mapping[str, str], report: Report) -> None:
    """The images that new nodes are made from, before anything that runs is taken away."""
    made = {node for node in chosen if there.get(node, _HALF_MADE) == _HALF_MADE}
    for key, image in work.desired.images.items():
        if made & set(image.nodes):
            bake = partial(install, work.desired, image, report=report)
            work.machines.ensure_image(work.handoff, key, bake, report)


def _only(handoff: Handoff, nodes: Collection[str]) -> Handoff:
    return replace(handoff, nodes=tuple(node for node in handoff.nodes if node.name in nodes))


def _keys(work: Work) -> Mapping[str, str]:
    """Node → the key of its image."""
    return {node: key for key, image in work.desired.images.items() for node in image.nodes}


def _reboot(work: Work, nodes: Collection[str], report: Report) -> None:
    """Before the change is recorded as applied: an interrupted run comes here again."""
    if not nodes:
        return
    _take_from_slurm(work, nodes)
    report(Event("reboot", "started", "what is loaded is exchanged", fold(nodes)))
    work.machines.reboot(_only(work.handoff, nodes), _keys(work), report)
    for node in sorted(nodes):
        report(Event("reboot", "changed", "booted", node))


def _put_to_work(work: Work, targets: Mapping[str, Target], nodes: Collection[str], report: Report) -> None:
    """Wait until Slurm has taken up the nodes that changed, and bring back those that it gave up on."""
    queue = queue_of(work.handoff, targets)
    if queue is None:
        return
    if {node.name for node in work.handoff.with_role("controller")} & set(nodes):
        queue.wait_until_heard(REGISTER_SECONDS)
    compute = {node.name for node in work.handoff.with_role("compute")} & set(nodes)
    if not compute:
        return
    late = queue.take_up(compute, REGISTER_SECONDS)
    for node in sorted(compute - set(late)):
        report(Event("slurm", "ok", "registered", node))
    for node in late:
        state, reason = queue.states().get(node, ("unknown to Slurm", ""))
        report(Event("slurm", "failed", f"{state} {reason}".strip(), node))
