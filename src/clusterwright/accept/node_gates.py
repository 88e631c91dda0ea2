"""Gates of one node: it answers, is what the plan says, and runs what it should."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clusterwright.accept import systemd_text
from clusterwright.accept.result import GateResult, judged
from clusterwright.accept.session import Session
from clusterwright.handoff import Node

GATE = "/usr/lib/clusterwright/gate"
GATE_UNIT = "clusterwright-gate.service"
SKEW_BOUND_SECONDS = 1.0
"""Certificates, job time limits and file times of a build go wrong beyond it; Slurm itself bears minutes."""


def time_skew(session: Session, node: Node) -> GateResult:
    """The node's clock against the operator's, less what the round trip leaves uncertain."""
    clock = session.clock()
    certain = max(0.0, abs(clock.offset) - clock.round_trip / 2)
    result = judged(
        "time-skew",
        node.name,
        certain <= SKEW_BOUND_SECONDS,
        expected=f"within {SKEW_BOUND_SECONDS:g} s of this machine",
        seen=f"{clock.offset * 1e3:+.1f} ms ± {clock.round_trip * 500:.1f} ms",
        remedy=(
            "Look at `chronyc tracking` on the node; when every node is off by the same, look at this machine"
        ),
    )
    figures = {"offset_ms": round(clock.offset * 1e3, 3), "round_trip_ms": round(clock.round_trip * 1e3, 3)}
    return replace(result, figures=figures)


def own_gates(session: Session, node: Node) -> list[GateResult]:
    """What the node's own gate program says now."""
    ran = session.run(GATE, "--json", timeout=90)
    try:
        report: Mapping[str, Any] = json.loads(ran.output)
        rows: Sequence[Mapping[str, Any]] = report["gates"]
        return [_own_gate(node, row) for row in rows if row["name"] != "plan" or row["status"] == "fail"]
    except (ValueError, KeyError, TypeError):
        remedy = "Run `clusterwright up` again: it installs the gate program"
        return [
            GateResult("node-gate", node.name, "fail", f"{GATE} reports", ran.complaint, remedy, ran.seconds)
        ]


def _own_gate(node: Node, row: Mapping[str, Any]) -> GateResult:
    return GateResult(
        name=row["name"],
        node=node.name,
        status=row["status"] if row["status"] in ("pass", "skip") else "fail",
        expected=row["expected"] or row["seen"],
        seen=row["seen"],
        remedy=row["remedy"],
        seconds=row["seconds"],
    )


def daemons(session: Session, node: Node, units: Sequence[str]) -> list[GateResult]:
    """Every wanted unit is active, and slurmd could start only after the gate."""
    names = sorted({*units, *((GATE_UNIT, "slurmd.service") if "compute" in node.roles else ())})
    if not names:
        return []
    started = time.monotonic()
    ran = session.run("systemctl", "show", f"--property={','.join(systemd_text.PROPERTIES)}", *names)
    seen = systemd_text.units(ran.output)
    bad = {name: systemd_text.state(seen.get(name, {})) for name in names if not _active(seen, name)}
    results = [
        judged(
            "daemons",
            node.name,
            not bad,
            expected="active: " + ", ".join(_short(name) for name in names),
            seen=", ".join(f"{_short(name)} {state}" for name, state in bad.items()) or "all active",
            remedy=f"Look at `journalctl --unit {next(iter(bad), '')}` on the node",
        )
    ]
    if "compute" in node.roles:
        results.append(_admission(node, seen.get(GATE_UNIT, {}), seen.get("slurmd.service", {})))
    spent = round(time.monotonic() - started, 3)
    return [replace(result, seconds=spent) for result in results]


def _admission(node: Node, gate: Mapping[str, str], slurmd: Mapping[str, str]) -> GateResult:
    expected = f"slurmd started only after {GATE_UNIT} passed"
    faults = [
        fault
        for fault, present in (
            (f"the gate is {systemd_text.state(gate)}", gate.get("ActiveState") != "active"),
            ("slurmd does not require the gate", GATE_UNIT not in slurmd.get("Requires", "").split()),
            ("slurmd is not ordered after the gate", GATE_UNIT not in slurmd.get("After", "").split()),
            ("slurmd started before the gate passed", _entered(slurmd) < _entered(gate)),
        )
        if present
    ]
    remedy = "Run `/usr/lib/clusterwright/gate` on the node, and `clusterwright up --full`"
    return judged(
        "admission",
        node.name,
        not faults,
        expected=expected,
        seen=", ".join(faults) or expected,
        remedy=remedy,
    )


def _active(seen: Mapping[str, Mapping[str, str]], name: str) -> bool:
    unit = seen.get(name, {})
    return unit.get("ActiveState") == "active" or systemd_text.stays_away(unit)


def _entered(unit: Mapping[str, str]) -> int:
    return int(unit.get("ActiveEnterTimestampMonotonic") or 0)


def _short(unit: str) -> str:
    return unit.removesuffix(".service")
