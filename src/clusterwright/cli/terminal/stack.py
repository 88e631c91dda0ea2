"""What happens to a cluster on a cloud: before, and how it ended."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from clusterwright.cli.terminal.cost_words import cost_change, cost_sum
from clusterwright.cli.terminal.findings import show
from clusterwright.cli.terminal.machine_words import dollars
from clusterwright.cli.terminal.style import paint
from clusterwright.spec.nodeset import fold

if TYPE_CHECKING:
    from clusterwright.operate.stack.changes import Changes
    from clusterwright.operate.stack.destroy import Ending
    from clusterwright.operate.stack.spent import Spent
    from clusterwright.operate.stack.up import StackOutcome
    from clusterwright.plan.cost import Cost

_NODES = {"create": "made", "delete": "deleted", "replace": "replaced", "stop": "stopped and started"}


def show_changes(changes: Changes, before: Cost | None, now: Cost, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"changes": {**_changes(changes), "cost": _cost(before, now)}}), flush=True)
        return
    for line in _lines(changes):
        print(line)
    if before != now:
        for number, words in enumerate(cost_change(before, now) if before else cost_sum(now)):
            print(f"cost: {words}" if number == 0 else f"  {words}")


def show_stack_outcome(outcome: StackOutcome, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"outcome": _outcome(outcome)}))
        return
    show((*outcome.findings, *outcome.failed), as_json=False)
    verdict = {True: "accepted", False: "not up", None: "up"}[outcome.accepted if outcome.ok else False]
    style = "bold green" if outcome.ok else "bold red"
    done = [f"{len(names)} {_NODES[what]}" for what in _NODES if (names := outcome.changes.of(what))]
    if not outcome.changes.steps:
        done = ["nothing to change"]
    state = paint(f"{outcome.cluster} {verdict}", style, sys.stdout)
    print(f"{state}: {', '.join([f'{outcome.nodes} nodes', *done])}")
    if outcome.ok:
        print(f"  log in   {paint(f'clusterwright ssh {outcome.cluster}', 'bold', sys.stdout)}")
        print(f"  look     {paint(f'clusterwright status {outcome.cluster}', 'bold', sys.stdout)}")


def show_ending(ending: Ending, *, as_json: bool) -> None:
    """What a `destroy` takes away, keeps and loses, and what it cost so far."""
    if as_json:
        print(json.dumps({"destroy": _ending(ending)}), flush=True)
        return
    machines = f", {fold(ending.nodes)} among them with what is on their own disks" if ending.nodes else ""
    print(f"goes: {sum(ending.going.values())} resources{machines}")
    for one in ending.lost:
        print(f"lost: {_named(one.type, one.name)} {one.id}, with the files in it")
    for one in ending.staying:
        print(f"kept: {_named(one.type, one.name)} {one.id}, and it goes on to cost")
    for line in _spent(ending.spent()):
        print(line)


def _lines(changes: Changes) -> Iterator[str]:
    if not changes.steps:
        yield "nothing differs"
        return
    for what, words in {**_NODES, "update": "changed while they run"}.items():
        if nodes := changes.of(what):
            yield f"{words}: {fold(nodes)}"
    if changes.resources:
        counted = ", ".join(f"{count} {op}d" for op, count in changes.resources.items())
        yield f"resources: {counted}"
    if changes.renews_bundle:
        yield "nodes: are told what they should be, and asked whether they are"


def _changes(changes: Changes) -> dict[str, object]:
    rows = [{"op": op, "resource": title, "properties": list(keys)} for op, title, keys in changes.rows()]
    return {"cluster": changes.cluster, "nodes": dict(changes.nodes), "resources": rows}


def _cost(before: Cost | None, now: Cost) -> dict[str, float | None]:
    return {
        "old_usd_per_hour": before.usd_per_hour if before and before.dates else None,
        "new_usd_per_hour": now.usd_per_hour if now.dates else None,
    }


def _outcome(outcome: StackOutcome) -> dict[str, object]:
    changes = outcome.changes
    return {
        "cluster": outcome.cluster,
        "ok": outcome.ok,
        "created": list(changes.of("create", "replace")),
        "removed": list(changes.of("delete")),
        "nodes": dict(changes.nodes),
        "resources": dict(changes.resources),
        "accepted": outcome.accepted,
        "failed": [finding.as_json() for finding in outcome.failed],
        "findings": [finding.as_json() for finding in outcome.findings],
    }


def _ending(ending: Ending) -> dict[str, object]:
    spent = ending.spent()
    return {
        "cluster": ending.name,
        "nodes": list(ending.nodes),
        "going": dict(ending.going),
        "lost": [_row(one.type, one.name, one.id) for one in ending.lost],
        "kept": [_row(one.type, one.name, one.id) for one in ending.staying],
        "usd_so_far": spent.usd if spent.since else None,
        "since": spent.since.isoformat() if spent.since else None,
    }


def _row(kind: str, name: str, identity: str) -> Mapping[str, str]:
    return {"type": kind, "name": name, "id": identity}


def _named(kind: str, name: str) -> str:
    return f"{kind.rpartition(':')[2]} {name}"


def _spent(spent: Spent) -> Iterator[str]:
    if spent.since:
        told = f"{dollars(spent.usd)} since {spent.since:%Y-%m-%d %H:%M} UTC"
        yield f"cost so far: about {told}, by list prices, of the machines that are there now"
    if spent.unpriced:
        yield f"no price is known of {fold(spent.unpriced)}"
