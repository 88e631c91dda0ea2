"""What one `up` is asked to do, and what it will do to each node: decided before anything is touched."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from clusterwright.catalog.changes import Impact
from clusterwright.change import mixed
from clusterwright.converge.verify import Verified
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where
from clusterwright.operate.disturb import refuse_to_disturb
from clusterwright.operate.need import Need, needs, refuse_to_lower
from clusterwright.operate.queue import OUT_OF_SERVICE, PULLED, ROLL
from clusterwright.operate.roll import Roll
from clusterwright.operate.work import Work

_HALF_MADE, _RUNNING, _STOPPED = "half-made", "running", "stopped"


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
    """Run the acceptance gates where something changed, or a machine had been off."""
    replace: Collection[str] = ()
    """Rebuild these nodes, whatever they are like."""
    create: Collection[str] | None = None
    """Of the nodes that are missing, create only these; None for all."""
    only: Collection[str] | None = None
    """Create, look at and converge these nodes and no other; None for all."""


NO_WISHES = Wishes()
"""The description as it stands."""


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

    @property
    def started(self) -> set[str]:
        """Nodes whose machines were off, and boot as they are."""
        return {node for node in self.chosen if self.present.get(node) == _STOPPED} - self.made


def refuse_to_roll(work: Work, wishes: Wishes) -> None:
    """Raises Refused for each way of rolling that nodes which pull cannot follow."""
    if wishes.roll is None or not work.pulls:
        return
    asked = {
        "--wait": wishes.roll.wait != math.inf,
        "--failures": wishes.roll.failures > 0,
        "--rebuild": bool(wishes.rebuild),
    }
    what = "nodes that pull take their turns by themselves, and none follows one that failed"
    remedy = "Leave it out; `up` can be stopped at any moment, and the nodes go on"
    found = [Finding("CW8055", Where(path=option), what, remedy) for option, given in asked.items() if given]
    if found:
        raise Refused(found)


def course_of(work: Work, wishes: Wishes, report: Report) -> Course:
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
    rolled = {name: need for name, need in found.items() if wishes.roll and _in_turn(work, need)}
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


def _in_turn(work: Work, need: Need) -> bool:
    """A node that pulls does not take itself away."""
    return need.rollable and not (work.pulls and need.impact is Impact.REPLACE)


def _sick(work: Work, seen: Mapping[str, Verified], rolled: Collection[str]) -> Iterator[str]:
    states = work.queue.states() if rolled and work.queue else {}
    for name in rolled:
        state, reason = states.get(name, ("", ""))
        out = state.startswith(OUT_OF_SERVICE) or state.endswith("*")
        if (out and not reason.startswith((ROLL, PULLED))) or name not in seen or seen[name].unreachable:
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
