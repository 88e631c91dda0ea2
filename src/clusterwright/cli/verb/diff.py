"""`clusterwright diff`: what a changed description does to a cluster."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from clusterwright.cli.arguments import Verbs
from clusterwright.cli.ending import FINE

if TYPE_CHECKING:
    from clusterwright.change import Change
    from clusterwright.handoff import Handoff
    from clusterwright.plan.cost import Cost
    from clusterwright.render.file import NodeFile

    Side = tuple[Handoff | None, tuple[NodeFile, ...], Cost | None]

_ABOUT = """Say what a change does to each node.

Every difference is classed: live, daemon-restart (and which daemon), drain, reboot, replace.
OLD and NEW are description files, hand-off documents or names of clusters. Without OLD, NEW is
compared with what was last applied; a name as NEW stands for its description as it is now. What
disturbs jobs can go through the cluster in turns: `up --roll`, in the order that is shown. Between
two descriptions of clouds, the change of the price is told as well."""


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "diff",
        run,
        _ABOUT,
        examples={
            "clusterwright diff clusters/lab.yaml": "against the running cluster",
            "clusterwright diff before.yaml after.yaml": "two descriptions",
            "clusterwright diff --files lab": "with the lines that change in each file",
        },
    )
    parser.add_argument("old", metavar="OLD", nargs="?", help="what to compare with (default: last applied)")
    parser.add_argument("new", metavar="NEW", help="description, hand-off document or cluster")
    parser.add_argument("--batch", metavar="N", type=int, default=1, help="turns of `up --roll --batch N`")
    parser.add_argument("--files", action="store_true", help="show the lines that differ in rendered files")


def run(arguments: argparse.Namespace) -> int:
    from clusterwright.change import diff

    old, old_files, old_cost = _old(arguments.old, arguments.new)
    new, new_files, new_cost = _new(arguments.new, old)
    changes = diff(old, new, old_files, new_files)
    if arguments.json:
        body = {**_as_json(changes, new, arguments.batch), "cost": _cost(old_cost, new_cost)}
        print(json.dumps(body, indent=1))
        return FINE
    _print(changes)
    _print_turns(changes, new, arguments.batch)
    _print_cost(old_cost, new_cost)
    if arguments.files:
        print("".join(_lines(old_files, new_files)), end="")
    return FINE


def _old(old: str | None, new: str) -> Side:
    """What is there before: what OLD says, or what was last applied to the cluster that NEW is about."""
    from clusterwright.operate.home import ClusterHome
    from clusterwright.operate.prepare import described, prepare
    from clusterwright.operate.source import Source, cluster_home, is_description
    from clusterwright.spec.load import load

    if old is None:
        name = _handoff(new).name if new.endswith(".json") else ""
        if not name:
            name = load(new).spec.cluster if is_description(new) else cluster_home(new).name
        home = ClusterHome.of(name)
        return home.handoff(), home.files(), None
    if old.endswith(".json"):
        return _rendered(_handoff(old))
    if is_description(old):
        prepared = prepare(described(Source(Path(old))))
        return prepared.handoff, prepared.files, prepared.plan.cost
    home = cluster_home(old)
    return home.handoff(), home.files(), None


def _new(new: str, old: Handoff | None) -> tuple[Handoff, tuple[NodeFile, ...], Cost | None]:
    """What is wanted, on the ground of what is there: nodes keep their addresses and network."""
    from clusterwright.cli.target import as_it_stands
    from clusterwright.operate.prepare import described, ground_of, prepare

    if new.endswith(".json"):
        return _rendered(_handoff(new))
    source = as_it_stands(new)
    if old is None:
        prepared = prepare(described(source))
    else:
        previous = {node.name: node.address for node in old.nodes}
        prepared = prepare(described(source).over(old), ground=ground_of(old), previous=previous)
    return prepared.handoff, prepared.files, prepared.plan.cost


def _handoff(file: str) -> Handoff:
    from clusterwright.finding import Where, refuse
    from clusterwright.handoff import loads

    try:
        return loads(Path(file).read_text(), file)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise refuse(
            "CW9007", Where(file), f"cannot be read: {reason}", "Name a hand-off document"
        ) from error


def _rendered(handoff: Handoff) -> tuple[Handoff, tuple[NodeFile, ...], None]:
    from clusterwright.render import render

    return handoff, render(handoff), None


def _as_json(changes: list[Change], new: Handoff, size: int) -> dict[str, object]:
    from clusterwright.change import batches, impact_by_node, in_turn, mixed

    nodes = {node: impact.value for node, impact in impact_by_node(changes).items()}
    turns = [batch.as_json() for batch in batches(new, in_turn(changes), size)]
    rows = [change.as_json() for change in changes]
    return {"changes": rows, "nodes": nodes, "batches": turns, "mixed": list(mixed(changes))}


def _print_turns(changes: list[Change], new: Handoff, size: int) -> None:
    """In which order `up --roll` would go."""
    from clusterwright.change import batches, in_turn, mixed
    from clusterwright.spec.nodeset import fold

    turns = batches(new, in_turn(changes), size)
    for pool in dict.fromkeys(batch.pool for batch in turns):
        first, *rest = [name for batch in turns if batch.pool == pool for name in batch.nodes]
        then = f", then {fold(rest)}, {size} at a time" if rest else ""
        print(f"up --roll: {first} of {pool} first{then}")
    if names := ", ".join(mixed(changes)):
        print(f"until its end, jobs over several nodes may meet two versions of {names}")
    if lowered := sorted({change.path.split(".")[2] for change in changes if change.what == "lowered"}):
        options = " ".join(f"--rebuild {pool}" for pool in lowered)
        print(f"nothing goes down in place: up {options} makes nodes anew")


def _print(changes: list[Change]) -> None:
    from clusterwright.change import impact_by_node
    from clusterwright.cli.terminal.table import print_table
    from clusterwright.spec.nodeset import fold

    if not changes:
        print("nothing differs")
        return
    rows = [
        (change.impact.value, fold(change.nodes), change.what, change.path, ", ".join(change.units))
        for change in changes
    ]
    print_table(("IMPACT", "NODES", "WHAT", "WHERE", "RESTARTS"), rows)
    by_impact: dict[str, list[str]] = {}
    for node, impact in impact_by_node(changes).items():
        by_impact.setdefault(impact.value, []).append(node)
    print("; ".join(f"{impact}: {fold(nodes)}" for impact, nodes in by_impact.items()))


def _cost(old: Cost | None, new: Cost | None) -> dict[str, object]:
    """US dollars an hour: what is known of each side, null where nothing is."""
    from clusterwright.plan.cost import PARTS

    def parts(cost: Cost | None) -> dict[str, float] | None:
        return {part: cost.of(part) for part in PARTS} if cost and cost.dates else None

    return {
        "old_usd_per_hour": old.usd_per_hour if old and old.dates else None,
        "new_usd_per_hour": new.usd_per_hour if new and new.dates else None,
        "old_parts": parts(old),
        "new_parts": parts(new),
    }


def _print_cost(old: Cost | None, new: Cost | None) -> None:
    from clusterwright.cli.terminal.cost_words import cost_change

    for number, words in enumerate(cost_change(old, new) if old and new else ()):
        print(f"cost: {words}" if number == 0 else f"  {words}")


def _lines(old: Iterable[NodeFile], new: Iterable[NodeFile]) -> Iterator[str]:
    before, after = ({file.path: file.content for file in files} for files in (old, new))
    for path in sorted({*before, *after}):
        was, now = before.get(path, ""), after.get(path, "")
        yield from difflib.unified_diff(
            was.splitlines(keepends=True), now.splitlines(keepends=True), f"old{path}", f"new{path}"
        )
