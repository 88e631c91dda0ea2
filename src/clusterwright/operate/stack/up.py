"""`up` of a cluster on a cloud: say what changes, then let the engine do it, until every node is accepted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where, refuse
from clusterwright.handoff import Handoff
from clusterwright.operate.desired import Desired
from clusterwright.operate.prepare import described, prepare
from clusterwright.operate.source import applied, copy
from clusterwright.operate.stack.changes import Changes
from clusterwright.operate.stack.failures import ACCEPTANCE, findings_of, refused
from clusterwright.operate.stack.follow import Follow
from clusterwright.operate.stack.locks import unlocked
from clusterwright.operate.stack.told import handoff_of, made_nodes, members_of, said_by_nodes
from clusterwright.operate.stack.work import StackWork
from clusterwright.plan.cost import Cost
from clusterwright.plan.software import beside
from clusterwright.render import render
from clusterwright.spec.load import load, machine_files
from clusterwright.spec.machines import kept_as
from clusterwright.spec.nodeset import fold

if TYPE_CHECKING:
    from clusterwright.providers.engine.kept import Kept


@dataclass(frozen=True)
class StackOutcome:
    """How an `up` ended."""

    cluster: str
    nodes: int
    changes: Changes
    findings: tuple[Finding, ...] = ()
    """Warnings and notes."""
    failed: tuple[Finding, ...] = ()
    accepted: bool | None = None
    """None where no node was asked."""
    outputs: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return not self.failed


def preview(work: StackWork, report: Report, anew: Sequence[str] = ()) -> Changes:
    """What the engine would do. Raises Refused with its words where it cannot tell."""
    report(Event("preview", "started", "the cloud is asked how everything is"))
    program = _program(work)
    with refused(work.name):
        return Changes(work.name, unlocked(work.stack, lambda: work.stack.preview(program, anew)))


def cost_before(work: StackWork) -> Cost | None:
    """Of the description that was applied last; None where there was none, or it is read no more."""
    before = applied(work.home)
    try:
        return prepare(described(before)).plan.cost if before else None
    except Refused:
        return None


def refuse_to_disturb(work: StackWork, changes: Changes) -> None:
    """Nobody here sees a cloud's queue: a node that was accepted and runs jobs for people may have some."""
    handoff, said = handoff_of(work.before), said_by_nodes(work.before)
    compute = {node.name for node in handoff.with_role("compute")} if handoff else set()
    disturbed = {*changes.disturbed, *_members_that_go(work, changes, handoff)}
    may_work = sorted(
        node for node in disturbed if node in compute and said.get(node, "accepted") == "accepted"
    )
    if may_work:
        nodes = fold(may_work)
        raise refuse(
            "CW8084",
            Where(path=nodes),
            "their machines stop, are replaced or deleted, and whether jobs run there is not seen from here",
            f"Look with `clusterwright ssh {work.name} -- squeue --nodelist={nodes}`, drain them there, then "
            "run this again with --disturb",
        )


def _members_that_go(work: StackWork, changes: Changes, before: Handoff | None) -> Iterator[str]:
    """Of groups: a preview knows the group only. Whose name is planned no more is ended after it, and on
    Google Cloud whose address is another."""
    for node in members_of(work.before):
        known = before.by_name.get(node) if before else None
        planned = work.prepared.handoff.by_name.get(node)
        moves = planned and known and planned.address and planned.address != known.address
        if planned is None or moves or (known and known.pool in changes.lost_groups):
            yield node


def apply(work: StackWork, changes: Changes, report: Report, anew: Sequence[str] = ()) -> StackOutcome:
    """Let the engine do it. Killed anywhere, the next `up` goes on.

    `anew`: the URNs of what is made anew although it is as it should be."""
    from clusterwright.providers.engine.stack import Failed

    handoff, notes = work.prepared.handoff, (*work.prepared.findings, *work.unsure)
    outcome = partial(StackOutcome, work.name, len(made_nodes(handoff)), changes, notes)
    after = work.before
    if changes.steps or not is_applied(work):
        _have_packages(work, report)
        program, follow = _program(work), Follow(work.name, handoff.by_name, report)
        try:
            unlocked(work.stack, lambda: work.stack.up(program, follow, anew))
        except Failed as failed:
            return outcome(failed=findings_of(failed, work.name), accepted=None)
        after = work.stack.kept()
    asked = bool(after.of_type(ACCEPTANCE))
    if asked or handoff.cluster["converge"] != "pull":
        _record(work, after)
    return outcome(accepted=asked or None, outputs={key: str(text) for key, text in after.outputs.items()})


def _have_packages(work: StackWork, report: Report) -> None:
    """Those that nodes are published, before a machine is paid for. Raises Refused."""
    if work.prepared.handoff.cluster["converge"] == "pull":
        desired = Desired(work.home, work.prepared.handoff, work.prepared.files, work.source.folder)
        desired.packages((one.kind for one in desired.sketch.all().values()), report)


def _program(work: StackWork) -> Callable[[], None]:
    from clusterwright.operate.stack.program import declare_cluster

    return partial(declare_cluster, work.source.file)


def is_applied(work: StackWork) -> bool:
    """Whether description, lock and machines are the very ones; outputs follow from them alone."""
    now, was = work.source.file, work.home.applied_description_file
    machines = [(path, kept_as(was, site.machines or "")) for path, site in machine_files(load(now))]
    pairs = ((now, was), (beside(now), beside(was)), *machines)
    return all((_text(one) == _text(other)) for one, other in pairs)


def _text(file: Path) -> str | None:
    return file.read_text() if file.exists() else None


def _record(work: StackWork, after: Kept) -> None:
    """What `diff` compares with and other verbs read: what nodes were last accepted as."""
    handoff = handoff_of(after)
    if handoff is not None:
        copy(work.source.file, work.home.applied_description_file)
        work.home.record_applied(handoff, render(handoff))
