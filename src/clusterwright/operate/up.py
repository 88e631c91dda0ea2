"""`up`: from a description to an accepted cluster, from wherever it is now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial

from clusterwright.accept.result import Acceptance
from clusterwright.bundle.turns import AT_ONCE, InTurn
from clusterwright.catalog.changes import Impact
from clusterwright.converge.target import Target
from clusterwright.event import Event, Report
from clusterwright.finding import Finding
from clusterwright.operate.admit import REGISTER_SECONDS, admit
from clusterwright.operate.backup.program import waiting
from clusterwright.operate.configure import configure
from clusterwright.operate.controllers import apart, refuse_to_leave_state
from clusterwright.operate.course import NO_WISHES, Course, Wishes, course_of, refuse_to_roll
from clusterwright.operate.disturb import queue_of
from clusterwright.operate.netboot.images import served, swept
from clusterwright.operate.outcome import Outcome
from clusterwright.operate.prove import prove, prove_within
from clusterwright.operate.pull.converge import Pulling
from clusterwright.operate.pull.proof import Proof, Waiting
from clusterwright.operate.pull.reports import host_keys
from clusterwright.operate.queue import ROLL
from clusterwright.operate.roll import Rolling, empty, held_back, outlasted
from clusterwright.operate.source import Source, copy
from clusterwright.operate.verdict import doubt, was_accepted
from clusterwright.operate.work import Work, begun


def up(source: Source, report: Report, wishes: Wishes = NO_WISHES) -> Outcome:
    """Bring the cluster to its description; run again after any interruption, it goes on."""
    with begun(source) as work:
        refuse_to_roll(work, wishes)
        if work.before:
            refuse_to_leave_state(work.before, work.handoff)
        course = course_of(work, wishes, report)
        stale = work.proof()
        # Before anything is made: what cannot be had or trusted is refused here.
        work.desired.packages([work.desired.wanted[name].kind for name in course.made], report)
        work.bake(course.made, report)
        outcome = Outcome(work.handoff, (*work.risks, *work.prepared.findings), removed=course.gone)
        if (busy := _let_go(work, course, wishes, report)) is not None:
            return replace(outcome, failed=(busy,))
        if course.started:
            doubt(work.home)
        outcome, booted = _at_once(work, course, wishes, report, outcome)
        if outcome.created or outcome.changed or outcome.broken:
            doubt(work.home)
        if outcome.broken and not (wishes.roll and _led(work, outcome.broken)):
            return outcome
        if held := _held(work):
            if work.before is None:  # what restores it reads this
                _record(work, source)
            return replace(outcome, failed=(held,))
        anew = {*outcome.created, *outcome.changed, *booted}
        outcome = _one_by_one(work, course, wishes, report, outcome)
        if outcome.broken or outcome.failed:
            return outcome
        _record(work, source)
        swept(work, report)
        targets = {n: t for n, t in work.machines.targets(work.handoff).items() if n in course.chosen}
        there = {*course.present, *outcome.created}
        _put_to_work(work, targets, anew, there, report)
        if wishes.accept and not was_accepted(work.home):
            outcome = replace(outcome, acceptance=_prove(work, targets, stale, report))
        return outcome


def _record(work: Work, source: Source) -> None:
    copy(source.file, work.home.applied_description_file)
    work.home.record_applied(work.handoff, work.prepared.files)


def _held(work: Work) -> Finding | None:
    """A controller on a new disk, which starts no slurmctld before its state is restored."""
    queue = queue_of(work.handoff, work.machines.targets(work.handoff))
    if queue is None or not work.handoff.scheduler.get("backup"):
        return None
    return waiting(queue.controller, work.home.name)


def _prove(work: Work, targets: Mapping[str, Target], stale: Proof | None, report: Report) -> Acceptance:
    if work.store is None:
        return prove(work.desired, targets, report)
    waiting = Waiting(work.store, work.handoff, host_keys(targets), report, targets)
    return prove_within(work.desired, targets, waiting, stale)


def _let_go(work: Work, course: Course, wishes: Wishes, report: Report) -> Finding | None:
    """Nodes that are taken away: before slurmctld is told that they are no more."""
    if wishes.roll and course.gone and work.queue:
        busy = empty(work.queue, course.gone, "taken out of the cluster", wishes.roll.wait, report)
        if busy:
            return outlasted(work.home.name, busy)
    taken = [*course.gone, *course.rebuilt]
    if taken:
        doubt(work.home)
        _take_from_slurm(work, taken)
        work.machines.remove(taken, report)
    return None


def _at_once(
    work: Work, course: Course, wishes: Wishes, report: Report, outcome: Outcome
) -> tuple[Outcome, list[str]]:
    """Everything that waits for no job; also which nodes booted for it."""
    targets = work.ensure(course.chosen - (set() if work.store else set(course.rolled)), report)
    served(work, targets, report)
    looked = targets if wishes.only is None else {n: t for n, t in targets.items() if n in wishes.only}
    known = {name: seen for name, seen in course.seen.items() if name not in course.rebuilt}
    if work.store:
        impacts = {name: need.impact for name, need in course.needs.items()}
        again = partial(work.ensure, course.chosen, report)
        pulling = Pulling(work.store, work.desired, host_keys(targets), targets, report, again)
        nodes = pulling.run(looked, known, impacts, full=wishes.full, roll=_roll(course, wishes))
    else:
        nodes = configure(work.desired, looked, report, full=wishes.full, seen=known)
    created = tuple(name for name in targets if name not in course.present or name in course.rebuilt)
    outcome = replace(outcome, created=created, nodes=nodes)
    boot = [
        name
        for name, need in course.needs.items()
        if need.impact is Impact.REBOOT and name in looked and name not in created
    ]
    if not boot or outcome.broken or work.store:  # a node that pulls boots when its jobs have ended
        return outcome, []
    _take_from_slurm(work, boot)
    for together in apart(work.handoff, boot):
        work.reboot(together, report)
    return outcome, boot


def _roll(course: Course, wishes: Wishes) -> InTurn | None:
    """How nodes that pull are to follow each other; None to leave it as it was published."""
    if wishes.roll and course.rolled:
        return InTurn(wishes.roll.batch, tuple(sorted(course.sick)))
    return AT_ONCE if wishes.disturb else None


def _led(work: Work, but: Collection[str]) -> bool:
    """Whether no controller is among these nodes."""
    return not {node.name for node in work.handoff.with_role("controller")} & {*but}


def _one_by_one(work: Work, course: Course, wishes: Wishes, report: Report, outcome: Outcome) -> Outcome:
    """First what an earlier run left in the middle, then node after node what waits for jobs."""
    watched = set(work.handoff.by_name) if wishes.only is None else {*wishes.only}
    queue = work.queue
    if queue and not _led(work, {*outcome.created, *outcome.changed}):
        queue.wait_until_heard(REGISTER_SECONDS, {*course.present, *outcome.created})
    states = queue.states() if queue else {}
    left = {node for node, (_, reason) in states.items() if reason.startswith(ROLL)}
    left = left & watched - set(course.rolled)
    if left:
        doubt(work.home)
    stuck = admit(work, queue, sorted(left), report) if left else {}
    outcome = replace(
        outcome, failed=tuple(held_back(work.home.name, name, gate) for name, gate in stuck.items())
    )
    if stuck or not wishes.roll or not course.rolled or work.store:
        return outcome
    rolled = Rolling(work, course.rolled, wishes.roll, report, course.sick, wishes.full).run()
    return replace(
        outcome,
        created=(*outcome.created, *rolled.created),
        nodes={**outcome.nodes, **rolled.nodes},
        failed=tuple(rolled.failed),
    )


def _take_from_slurm(work: Work, nodes: Collection[str]) -> None:
    """Slurm ends or requeues what ran there now; else it would believe in it until the node's time-out."""
    if work.queue:
        work.queue.take_away(nodes)


def _put_to_work(
    work: Work,
    targets: Mapping[str, Target],
    nodes: Collection[str],
    there: Collection[str],
    report: Report,
) -> None:
    """Wait until Slurm has taken up the nodes that changed, and bring back those that it gave up on."""
    queue = queue_of(work.handoff, targets)
    if queue is None:
        return
    controllers = {node.name for node in work.handoff.with_role("controller")}
    slurms = {node.name for node in work.handoff.with_role("compute")}
    if len(controllers) > 1:
        queue.answered()  # one that came back takes the queue over from another, and is silent meanwhile
    if (len(controllers) > 1 or controllers & set(nodes)) and slurms & set(there):
        queue.wait_until_heard(REGISTER_SECONDS, there)
    compute = slurms & set(nodes)
    if not compute:
        return
    late = queue.take_up(compute, REGISTER_SECONDS)
    for node in sorted(compute - set(late)):
        report(Event("slurm", "ok", "registered", node))
    for node in late:
        state, reason = queue.states().get(node, ("unknown to Slurm", ""))
        report(Event("slurm", "failed", f"{state} {reason}".strip(), node))
