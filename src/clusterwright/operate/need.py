"""What nodes have before them to become what is wanted, told by what was applied and by what they are now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clusterwright.catalog.changes import Impact, Kind, cost_of_component
from clusterwright.change import Change, can_be_rolled
from clusterwright.change.stacks import STACKS
from clusterwright.converge.verify import Verified
from clusterwright.finding import Finding, Refused, Where
from clusterwright.handoff import Handoff, Node
from clusterwright.spec.nodeset import fold


@dataclass(frozen=True, slots=True)
class Move:
    """A component of the lock that becomes another version on a node."""

    component: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Step:
    """One change that disturbs a node's jobs. `move` where it is one of a component."""

    change: Change
    move: Move | None = None


@dataclass(frozen=True, slots=True)
class Need:
    """All that disturbs jobs on one node."""

    steps: tuple[Step, ...]

    @property
    def impact(self) -> Impact:
        return max((step.change.impact for step in self.steps), key=lambda impact: impact.weight)

    @property
    def rollable(self) -> bool:
        return all(can_be_rolled(step.change) for step in self.steps)

    @property
    def moves(self) -> tuple[Move, ...]:
        return tuple(step.move for step in self.steps if step.move)

    @property
    def lowered(self) -> tuple[Move, ...]:
        return tuple(step.move for step in self.steps if step.move and step.change.what == "lowered")

    @property
    def words(self) -> str:
        """What it is drained for."""
        told = in_words(self.moves)
        others = dict.fromkeys(step.change.path for step in self.steps if not step.move)
        return "; ".join([*([told] if told else []), *others])


def needs(
    before: Handoff | None, after: Handoff, changes: Iterable[Change], seen: Mapping[str, Verified]
) -> Mapping[str, Need]:
    """By node, only those that something disturbs and that have it not behind them."""
    if before is None:
        return {}
    heavy = [change for change in changes if change.impact.disturbs_jobs]
    found = {}
    for node in after.nodes:
        if node.name in before.by_name:
            told = [change for change in heavy if node.name in change.nodes]
            steps = _steps(before, after, node, told, seen.get(node.name))
            if steps:
                found[node.name] = Need(steps)
    return found


def _steps(
    before: Handoff, after: Handoff, node: Node, told: Iterable[Change], seen: Verified | None
) -> tuple[Step, ...]:
    """What differs from what was applied, unless the node is there; and what only the node itself tells."""
    stack = after.software["stacks"].get(node.pool, {})
    was = before.software["stacks"].get(node.pool, {})
    prefix = f"{STACKS}.{node.pool}."
    steps = []
    for change in told:
        name = change.path.removeprefix(prefix) if change.path.startswith(prefix) else ""
        if seen is None or seen.unreachable or not _done(stack.get(name), seen):
            move = Move(
                name, was.get(name, {}).get("version", ""), stack.get(name, {}).get("version", "nothing")
            )
            steps.append(Step(change, move if name else None))
    if seen and not seen.unreachable:
        known = {step.move.component: step.change.what for step in steps if step.move}
        steps += [step for step in _unexpected(node, stack, seen, prefix) if _is_news(step, known)]
    return tuple(steps)


def _done(component: Mapping[str, Any] | None, seen: Verified) -> bool:
    """A component is there when its packages are, and were when the node booted."""
    pinned = _pinned(component or {})
    return not pinned & {*seen.packages, *seen.since_boot} if pinned else seen.ok


def _unexpected(node: Node, stack: Mapping[str, Any], seen: Verified, prefix: str) -> Iterator[Step]:
    """Components that differ for no reason told: another wish was under way, or a hand was at it."""
    for name, row in stack.items():
        other = {package: seen.packages[package] for package in _pinned(row) & {*seen.packages}}
        if not any(other.values()):
            continue
        kind: Kind = "lowered" if {*other} & {*seen.newer} else "changed"
        impact = cost_of_component(name, kind).impact
        if impact.disturbs_jobs:
            had = seen.stack.get(name, "")
            installed = had if had not in ("", row["version"]) else max(other.values())
            yield Step(
                Change((node.name,), kind, prefix + name, impact), Move(name, installed, row["version"])
            )


def _is_news(step: Step, known: Mapping[str, Kind]) -> bool:
    """Not told already; a version that goes down on this node alone is worse than what is told of all."""
    assert step.move is not None
    said = known.get(step.move.component)
    return said is None or (step.change.what == "lowered" and said != "lowered")


def _pinned(row: Mapping[str, Any]) -> set[str]:
    """Packages whose version the lock tells."""
    return {name for name, version in row.get("packages", {}).items() if version}


def refuse_to_lower(handoff: Handoff, needs: Mapping[str, Need], anew: Collection[str]) -> None:
    """Raises Refused with a finding per pool whose software would go down on nodes that are not made anew."""
    found: dict[tuple[str, tuple[Move, ...]], list[str]] = {}
    for node, need in needs.items():
        if need.lowered and node not in anew:
            found.setdefault((handoff.by_name[node].pool, need.lowered), []).append(node)
    if found:
        raise Refused(_finding(handoff, pool, moves, nodes) for (pool, moves), nodes in found.items())


def _finding(handoff: Handoff, pool: str, moves: Sequence[Move], nodes: Iterable[str]) -> Finding:
    reasons = dict.fromkeys(cost_of_component(move.component, "lowered").source for move in moves)
    return Finding(
        "CW8017",
        Where(path=pool),
        f"{fold(nodes)} would go down: {in_words(moves)}. {'; '.join(reasons)}",
        f"Keep what is there with `versions: {wishes(moves)}` and `clusterwright lock`, or have the nodes "
        f"made anew with `clusterwright up {handoff.name} --rebuild {pool}`; with --roll too, one after "
        "another while jobs run on the others",
    )


def in_words(moves: Iterable[Move]) -> str:
    """`driver, imex 595.58.03 to 595.91.07; cuda …`."""
    spans: dict[str, dict[str, None]] = {}
    for move in moves:
        spans.setdefault(f"{move.before or 'nothing'} to {move.after}", {})[move.component] = None
    return "; ".join(f"{', '.join(names)} {span}" for span, names in spans.items())


def wishes(moves: Iterable[Move]) -> str:
    """What the description says to have what was there before."""
    return "{" + ", ".join(f"{move.component}: {move.before}" for move in moves if move.before) + "}"
