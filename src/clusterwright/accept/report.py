"""The acceptance as JSON for machines, as a page for people, and as text for a terminal."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clusterwright.accept.result import Acceptance, GateResult
from clusterwright.finding import Where, refuse
from clusterwright.spec.nodeset import fold

VERSION = 1
JSON_FILE = "accept.json"
HTML_FILE = "accept.html"


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
    """One line per gate, worst first within it, and each failure in full."""
    lines = [_gate_line(name, rows) for name, rows in by_gate(acceptance.gates)]
    for gate in acceptance.failed:
        lines.append(f"\n{gate.node or acceptance.cluster}: {gate.name} failed")
        lines.append(f"  expected {gate.expected}")
        lines.append(f"  seen     {gate.seen}")
        lines.append(f"  remedy   {gate.remedy}")
    lines.append("\n" + verdict(acceptance))
    return "\n".join(lines) + "\n"


def verdict(acceptance: Acceptance) -> str:
    count = len(acceptance.gates)
    what = f"{acceptance.cluster}: " + ("accepted" if acceptance.accepted else "NOT accepted")
    skipped = f", {len(acceptance.skipped)} skipped" if acceptance.skipped else ""
    failed = f"{len(acceptance.failed)} of {count} gates failed" if acceptance.failed else f"{count} gates"
    simulated = ", simulated hardware" if acceptance.simulated else ""
    return f"{what} ({failed}{skipped}{simulated}, {acceptance.seconds:.1f} s)"


def by_gate(gates: Iterable[GateResult]) -> list[tuple[str, list[GateResult]]]:
    """Results by gate, gates in the order of their first result."""
    grouped: dict[str, list[GateResult]] = {}
    for gate in gates:
        grouped.setdefault(gate.name, []).append(gate)
    return list(grouped.items())


def _gate_line(name: str, rows: list[GateResult]) -> str:
    counts = [(word, sum(row.status == word for row in rows)) for word in ("fail", "skip", "pass")]
    worst = next(word for word, count in counts if count)
    mark = {"fail": "FAIL", "skip": "skip", "pass": "ok"}[worst]
    of_worst = [row for row in rows if row.status == worst]
    where = _where(of_worst)
    seen = {row.seen for row in of_worst}
    text = (
        seen.pop() if len(seen) == 1 else f"{sum(row.status == 'pass' for row in rows)} of {len(rows)} passed"
    )
    return f"{mark:4}  {name:14}  {where + ': ' if where else ''}{text}"


def _where(rows: list[GateResult]) -> str:
    names = [row.node for row in rows if row.node]
    return names[0] if len(names) == 1 else fold(names) if names else ""


def page(acceptance: Acceptance) -> str:
    """A page of its own: no script, nothing loaded from elsewhere."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("clusterwright.accept", "data")
    env = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    nodes = sorted({gate.node for gate in acceptance.gates if gate.node})
    values: dict[str, Any] = {
        "acceptance": acceptance,
        "verdict": verdict(acceptance),
        "gates": by_gate(acceptance.gates),
        "nodes": nodes,
        "figures": [gate for gate in acceptance.gates if gate.figures],
        "at": datetime.fromtimestamp(acceptance.started, UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
    }
    return env.get_template("report.html.j2").render(values)


def _place(path: Path, text: str) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        os.fchmod(stream.fileno(), 0o644)
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    Path(temporary).replace(path)
