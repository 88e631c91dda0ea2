"""`up`: from a description to an accepted cluster, from wherever it is now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from clusterwright.catalog.changes import Impact
from clusterwright.change import mixed
from clusterwright.converge.target import Target
from clusterwright.converge.verify import Verified
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.operate.admit import REGISTER_SECONDS, admit
from clusterwright.operate.configure import configure
from clusterwright.operate.disturb import queue_of, refuse_to_disturb
from clusterwright.operate.need import Need, needs, refuse_to_lower
from clusterwright.operate.outcome import Outcome
from clusterwright.operate.prove import doubt, prove, was_accepted
from clusterwright.operate.pull.converge import Pulling
from clusterwright.operate.pull.reports import host_keys
from clusterwright.operate.queue import OUT_OF_SERVICE, ROLL
from clusterwright.operate.roll import Roll, Rolling, empty, held_back, outlasted
from clusterwright.operate.source import Source, copy
from clusterwright.operate.work import Work, begun

_HALF_MADE, _RUNNING = "half-made", "running"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one `up` is asked to do beyond the description."""

    full: bool = False
    """Run every task on every node, also where nothing differs."""
    disturb: bool = False
    """Go on although running jobs will be lost."""
    roll: Roll | None = None
    """Take what disturbs jobs from node to node, each when its jobs have ended."""
    rebuild: Collection[str] = ()
    """Pools whose nodes may be made anew for what cannot be undone in place."""
    accept: bool = True
    """Run the acceptance gates where something changed."""
    replace: Collection[str] = ()
    """Rebuild these nodes, whatever they are like."""
    create: Collection[str] | None = None
    """Of the nodes that are missing, create only these; None for all."""
    only: Collection[str] | None = None
    """Create, look at and converge these nodes and no other; None for all."""


@dataclass(frozen=True)
class Course:
    """What is to be done, decided before anything is touched."""

    present: Mapping[str, str]
    """Node → state of its machine."""
    chosen: frozenset[str]
    """Nodes of the description that are to be there afterwards."""
    seen: Mapping[str, Verified]
    """What nodes that run answered."""
    gone: tuple[str, ...]
    """Nodes that the description no longer names."""
    needs: Mapping[str, Need]
    rolled: Mapping[str, Need]
    """Those of the needs that are met one node after another."""
    rebuilt: tuple[str, ...]
    """Nodes that are removed and made anew at once."""
    sick: frozenset[str]
    """Nodes that took no jobs before anything was done, or did not answer."""

    @property
    def made(self) -> set[str]:
        """Nodes that are made from an image, at once or when their turn comes."""
        missing = {node for node in self.chosen if self.present.get(node, _HALF_MADE) == _HALF_MADE}
        anew = {node for node, need in self.rolled.items() if need.impact is Impact.REPLACE}
        return missing | anew | {*self.rebuilt}


def up(source: Source, report: Report, wishes: Wishes = Wishes()) -> Outcome:
    """Bring the cluster to its description; run again after any interruption, it goes on."""
    with begun(source) as work:
        _refuse_to_roll(work, wishes)
        course = _course(work, wishes, report)
        work.bake(course.made, report)
        outcome = Outcome(work.handoff, (*work.risks, *work.prepared.findings), removed=course.gone)
        if (busy := _let_go(work, course, wishes, report)) is not None:
            return replace(outcome, failed=(busy,))
        outcome, booted = _at_once(work, course, wishes, report, outcome)
        if outcome.created or outcome.changed or outcome.broken:
            doubt(work.home)
        if outcome.broken and not (wishes.roll and _led(work, outcome.broken)):
            return outcome
        anew = {*outcome.created, *outcome.changed, *booted}
        outcome = _one_by_one(work, course, wishes, report, outcome)
        if outcome.broken or outcome.failed:
            return outcome
        copy(source.file, work.home.applied_description_file)
        work.home.record_applied(work.handoff, work.prepared.files)
        targets = {n: t for n, t in work.machines.targets(work.handoff).items() if n in course.chosen}
        _put_to_work(work, targets, anew, report)
        if wishes.accept and not was_accepted(work.home):
            outcome = replace(outcome, acceptance=prove(work.desired, targets, report))
        return outcome


def _refuse_to_roll(work: Work, wishes: Wishes) -> None:
    if wishes.roll and work.pulls:
        what = "nodes that pull empty themselves, a canary of each pool first, and are not rolled from here"
        remedy = "Leave out --roll; with --disturb nodes wait for their jobs before they change"
        raise refuse("CW8055", Where(path="--roll"), what, remedy)


def _course(work: Work, wishes: Wishes, report: Report) -> Course:
    """Raises Refused for what would lose a job, or would go back to an older version, unasked."""
    present = work.machines.existing()
    changes = work.changes(report)
    watched = set(work.handoff.by_name) if wishes.only is None else {*wishes.only}
    running = {name for name, state in present.items() if state == _RUNNING} & watched - {*wishes.replace}
    seen = work.look(running) if work.before else {}
    found = {
        name: need
        for name, need in needs(work.before, work.handoff, changes, seen).items()
        if name in present and name in watched
    }
    anew = {node.name for node in work.handoff.nodes if node.pool in wishes.rebuild} | {*wishes.replace}
    _refuse_unknown(work, wishes.rebuild)
    refuse_to_lower(work.handoff, found, anew)
    gone = tuple(sorted(set(present) - set(work.handoff.by_name)))
    rolled = {name: need for name, need in found.items() if wishes.roll and need.rollable}
    if rolled and (names := ", ".join(mixed(changes))):
        words = f"until its end, jobs over several nodes may meet two versions of {names}"
        report(Event("roll", "progress", words))
    unlike = {node for node, need in found.items() if need.impact is Impact.REPLACE and node not in rolled}
    rebuilt = tuple(sorted({*wishes.replace, *unlike} & set(present)))
    if work.before and not wishes.disturb:
        disturbed = {*rebuilt, *found, *(gone if wishes.roll is None else ())} - set(rolled)
        refuse_to_disturb(work.before, work.targets, disturbed, rolls=wishes.roll is not None)
    chosen = set(work.handoff.by_name)
    chosen = chosen if wishes.create is None else chosen & {*present, *wishes.create}
    sick = frozenset(_sick(work, seen, rolled))
    return Course(present, frozenset(chosen), seen, gone, found, rolled, rebuilt, sick)


def _sick(work: Work, seen: Mapping[str, Verified], rolled: Collection[str]) -> Iterator[str]:
    states = work.queue.states() if rolled and work.queue else {}
    for name in rolled:
        state, reason = states.get(name, ("", ""))
        out = state.startswith(OUT_OF_SERVICE) or state.endswith("*")
        if (out and not reason.startswith(ROLL)) or name not in seen or seen[name].unreachable:
            yield name


def _refuse_unknown(work: Work, pools: Collection[str]) -> None:
    known = dict.fromkeys(node.pool for node in work.handoff.nodes)
    remedy = f"There are: {', '.join(known)}"
    unknown = [
        Finding("CW8012", Where(path=f"--rebuild {pool}"), f"there is no pool '{pool}'", remedy)
        for pool in pools
        if pool not in known
    ]
    if unknown:
        raise Refused(unknown)


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
    targets = work.ensure(course.chosen - set(course.rolled), report)
    looked = targets if wishes.only is None else {n: t for n, t in targets.items() if n in wishes.only}
    known = {name: seen for name, seen in course.seen.items() if name not in course.rebuilt}
    if work.store:
        impacts = {name: need.impact for name, need in course.needs.items()}
        again = partial(work.ensure, course.chosen, report)
        pulling = Pulling(work.store, work.desired, host_keys(targets), targets, report, again)
        nodes = pulling.run(looked, known, impacts, full=wishes.full)
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
    work.reboot(boot, report)
    return outcome, boot


def _led(work: Work, but: Collection[str]) -> bool:
    """Whether no controller is among these nodes."""
    return not {node.name for node in work.handoff.with_role("controller")} & {*but}


def _one_by_one(work: Work, course: Course, wishes: Wishes, report: Report, outcome: Outcome) -> Outcome:
    """First what an earlier run left in the middle, then node after node what waits for jobs."""
    watched = set(work.handoff.by_name) if wishes.only is None else {*wishes.only}
    queue = work.queue
    if queue and not _led(work, {*outcome.created, *outcome.changed}):
        queue.wait_until_heard(REGISTER_SECONDS)
    states = queue.states() if queue else {}
    left = {node for node, (_, reason) in states.items() if reason.startswith(ROLL)}
    left = left & watched - set(course.rolled)
    if left:
        doubt(work.home)
    stuck = admit(work, queue, sorted(left), report) if left else {}
    outcome = replace(
        outcome, failed=tuple(held_back(work.home.name, name, gate) for name, gate in stuck.items())
    )
    if stuck or not wishes.roll or not course.rolled:
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
