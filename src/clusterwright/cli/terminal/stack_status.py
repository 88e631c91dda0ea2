"""A cluster on a cloud, node by node."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from clusterwright.cli.terminal.findings import show
from clusterwright.cli.terminal.style import paint
from clusterwright.cli.terminal.table import print_table

if TYPE_CHECKING:
    from clusterwright.operate.stack.status import StackStatus


def show_stack_status(found: StackStatus, *, as_json: bool) -> None:
    if as_json:
        findings = [finding.as_json() for finding in found.findings]
        body = {**asdict(found), "accepted": found.accepted, "healthy": found.healthy, "findings": findings}
        print(json.dumps(body, indent=1))
        return
    show(found.findings, as_json=False)
    accepted = "accepted" if found.accepted else "not accepted"
    style = "bold green" if found.healthy else "bold red"
    print(f"{paint(found.name, style, sys.stdout)}: {found.provider}, Slurm {found.release}, {accepted}\n")
    heads = ("NODE", "MACHINE", "SAYS", "GPUS", "ROLES", "TYPE", "ADDRESS")
    print_table(
        heads,
        (
            (
                node.name,
                node.instance or "missing",
                node.said or "nothing",
                str(node.gpus or ""),
                ",".join(node.roles),
                node.machine,
                node.address,
            )
            for node in found.nodes
        ),
    )
    if found.gates != "accepted":
        print(f"\n{found.gates}")
    _print_drift(found)


def _print_drift(found: StackStatus) -> None:
    if found.drift is None:
        return
    if not found.drift:
        print("\nnothing drifted")
    for drift in found.drift:
        words = "is gone" if drift.gone else f"differs: {', '.join(drift.properties) or 'what it is'}"
        print(f"\ndrift: {drift.what} {words}" if drift is found.drift[0] else f"drift: {drift.what} {words}")
    if found.drift:
        print(f"`clusterwright up {found.name}` makes it again as its description says")
