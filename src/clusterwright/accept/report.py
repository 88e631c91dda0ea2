"""The acceptance as JSON for machines, as a page for people, and as text for a terminal."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clusterwright.accept.result import Acceptance, GateResult, GateStatus
from clusterwright.finding import Where, refuse
from clusterwright.spec.nodeset import fold

VERSION = 1
JSON_FILE = "accept.json"
HTML_FILE = "accept.html"
ROWS_SHOWN = 200
"""Rows of one gate on the page: beyond it nobody reads, and the browser suffers."""
_MARK: dict[GateStatus, str] = {"fail": "FAIL", "skip": "skip", "pass": "ok"}


def write(acceptance: Acceptance, folder: Path) -> None:
    """Both files, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    _place(folder / JSON_FILE, dumps(acceptance))
    _place(folder / HTML_FILE, page(acceptance))


def dumps(acceptance: Acceptance) -> str:
    body = {"version": VERSION, "accepted": acceptance.accepted, **asdict(acceptance)}
    return json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def loads(text: str, file: str = "") -> Acceptance:
    """Read a report. Raises Refused for another version or a damaged file."""
    remedy = "Make it again with `clusterwright accept`"
    try:
        body = json.loads(text)
        if body.pop("version") != VERSION:
            raise refuse("CW6002", Where(file), f"not an acceptance report of version {VERSION}", remedy)
        body.pop("accepted")
        body["gates"] = tuple(GateResult(**row) for row in body["gates"])
        return Acceptance(**body)
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise refuse("CW6001", Where(file), f"not an acceptance report ({error})", remedy) from error


def summary(acceptance: Acceptance) -> str:
    """One line per gate, each failure in full, and the verdict last."""
    lines = [
        f"{_MARK[row.worst]:4}  {row.name:14}  {row.where + ': ' if row.where else ''}{row.what}"
        for row in by_gate(acceptance.gates)
    ]
    for failure in failures(acceptance):
        lines.append(f"\n{failure.where or acceptance.cluster}: {failure.name} failed")
        lines.append(f"  expected {failure.expected}")
        lines.append(f"  seen     {failure.seen}")
        lines.append(f"  remedy   {failure.remedy}")
    lines.append("\n" + verdict(acceptance))
    return "\n".join(lines) + "\n"


def verdict(acceptance: Acceptance) -> str:
    """One sentence."""
    counts = _counts(acceptance.gates)
    what = f"{acceptance.cluster}: " + ("accepted" if acceptance.accepted else "NOT accepted")
    passed = f"{counts['pass']} gates passed"
    failed = f", {counts['fail']} failed" if counts["fail"] else ""
    skipped = f", {counts['skip']} skipped" if counts["skip"] else ""
    simulated = ", simulated hardware" if acceptance.simulated else ""
    return f"{what} ({passed}{failed}{skipped}{simulated}, {acceptance.seconds:.1f} s)"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure, and every node that has it."""

    name: str
    where: str
    expected: str
    seen: str
    remedy: str


def failures(acceptance: Acceptance) -> list[Failure]:
    """What failed, said once for all nodes that failed alike."""
    alike: dict[tuple[str, str, str, str], list[str]] = {}
    for gate in acceptance.failed:
        alike.setdefault((gate.name, gate.expected, gate.seen, gate.remedy), []).append(gate.node)
    return [
        Failure(name, _where(nodes), expected, seen, remedy)
        for (name, expected, seen, remedy), nodes in alike.items()
    ]


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gate over all nodes."""

    name: str
    worst: GateStatus
    where: str
    """Nodes that have the worst status, folded."""
    what: str
    results: tuple[GateResult, ...]
    """The worst first; at most ROWS_SHOWN."""
    more: int
    """Results that are left off."""


def by_gate(gates: Iterable[GateResult]) -> list[GateRow]:
    """Results by gate, gates in the order of their first result."""
    grouped: dict[str, list[GateResult]] = {}
    for gate in gates:
        grouped.setdefault(gate.name, []).append(gate)
    return [_row(name, results) for name, results in grouped.items()]


def _row(name: str, results: list[GateResult]) -> GateRow:
    counts = _counts(results)
    worst: GateStatus = "fail" if counts["fail"] else "skip" if counts["skip"] else "pass"
    of_worst = [result for result in results if result.status == worst]
    seen = {result.seen for result in of_worst}
    word = {"fail": "failed", "skip": "skipped", "pass": "passed"}[worst]
    what = seen.pop() if len(seen) == 1 else f"{len(of_worst)} of {len(results)} {word}"
    where = _where(result.node for result in of_worst)
    ordered = sorted(results, key=lambda result: ("fail", "skip", "pass").index(result.status))
    more = max(0, len(ordered) - ROWS_SHOWN)
    return GateRow(name, worst, where, what, tuple(ordered[:ROWS_SHOWN]), more)


def _where(nodes: Iterable[str]) -> str:
    """Names folded; what is a folded set already stays as it is."""
    names = sorted({node for node in nodes if node})
    return fold(names) if len(names) > 1 and not any("[" in name for name in names) else ",".join(names)


def _counts(gates: Iterable[GateResult]) -> dict[GateStatus, int]:
    counts: dict[GateStatus, int] = {"pass": 0, "fail": 0, "skip": 0}
    for gate in gates:
        counts[gate.status] += 1
    return counts


def page(acceptance: Acceptance) -> str:
    """A page of its own: no script, nothing loaded from elsewhere."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("clusterwright.accept", "data")
    env = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    values: dict[str, Any] = {
        "acceptance": acceptance,
        "counts": _counts(acceptance.gates),
        "gates": by_gate(acceptance.gates),
        "failures": failures(acceptance),
        "figures": _figures(acceptance.gates),
        "at": datetime.fromtimestamp(acceptance.started, UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
    }
    return env.get_template("report.html.j2").render(values)


def _figures(gates: Iterable[GateResult]) -> list[dict[str, str]]:
    """The slowest of each measured value: a cluster is as fast as its slowest part."""
    measured: dict[str, list[float]] = {}
    for gate in gates:
        for name, value in gate.figures.items():
            measured.setdefault(name, []).append(value)
    shown = (
        ("latency_us", max, "{:.0f} µs", "all-reduce of 8 B"),
        ("bandwidth_gb_s", min, "{:.2f} GB/s", "all-reduce of 16 MiB"),
        ("nccl_node_gb_s", min, "{:.0f} GB/s", "NCCL all-reduce within the slowest node"),
        ("nccl_fabric_gb_s", min, "{:.0f} GB/s", "NCCL all-reduce between nodes"),
        ("offset_ms", lambda values: max(values, key=abs), "{:+.1f} ms", "largest clock offset"),
        ("round_trip_ms", max, "{:.1f} ms", "longest SSH round trip"),
    )
    return [
        {"value": text.format(worst(measured[name])), "label": label}
        for name, worst, text, label in shown
        if name in measured
    ]


def _place(path: Path, text: str) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        os.fchmod(stream.fileno(), 0o644)
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    Path(temporary).replace(path)
