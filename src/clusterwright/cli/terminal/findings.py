"""Findings: all at once, each with the line it is about, a caret under the place, and what to do."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from clusterwright.cli.terminal.style import paint
from clusterwright.finding import Finding, Severity, Where

_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_TOKEN = re.compile(r"[^\s,:{}\[\]]+")
_WIDEST_LINE = 160
_QUOTED = {".yaml", ".yml"}
"""Files whose lines are shown: lists of machines may have passwords beside what a finding is about."""


def show(findings: Iterable[Finding], *, as_json: bool, stream: bool = False) -> None:
    """To standard error for a person; for a program to standard output, one document or one object a line."""
    rows = list(findings)
    sys.stdout.flush()
    if as_json and stream:
        for row in rows:
            print(json.dumps({"finding": row.as_json()}), flush=True)
    elif as_json:
        print(json.dumps({"findings": [row.as_json() for row in rows]}, indent=1))
    else:
        for row in rows:
            print(_text(row), file=sys.stderr)
        if rows:
            print(_total(rows), file=sys.stderr)


def _text(finding: Finding) -> str:
    tint = partial(paint, stream=sys.stderr)
    severity = "" if finding.severity is Severity.ERROR else f"{finding.severity}: "
    code = tint(f"{finding.code} {severity}".rstrip(), _STYLE[finding.severity])
    place = tint(_place(finding.where), "bold")
    lines = [f"{place}: {code} {finding.what}" if place else f"{code} {finding.what}"]
    lines += [] if finding.secretive else _excerpt(finding.where, _STYLE[finding.severity])
    lines.append(f"  {tint('remedy:', 'green')} {finding.remedy}")
    return "\n".join(lines)


def _place(where: Where) -> str:
    if where.line:
        return f"{where.file}:{where.line}:{where.column}"
    return where.file or where.path


def _excerpt(where: Where, style: str) -> list[str]:
    line = _line(where)
    if line is None or len(line) > _WIDEST_LINE:
        return []
    start = max(where.column - 1, 0)
    token = _TOKEN.match(line, start)
    caret = "^" + "~" * (token.end() - start - 1 if token else 0)
    margin = f"{where.line:>5} | "
    return [
        paint(margin, "dim", sys.stderr) + line,
        paint(" " * 6 + "| ", "dim", sys.stderr) + " " * start + paint(caret, style, sys.stderr),
    ]


def _line(where: Where) -> str | None:
    if not where.line or Path(where.file).suffix not in _QUOTED:
        return None
    try:
        with Path(where.file).open(encoding="utf-8", errors="replace") as stream:
            text = next((line for number, line in enumerate(stream, 1) if number == where.line), None)
    except OSError:
        return None
    return None if text is None else "".join(c if c.isprintable() else " " for c in text.rstrip("\r\n"))


def _total(rows: list[Finding]) -> str:
    counts = Counter(row.severity for row in rows)
    parts = [f"{n} {severity}{'s' if n > 1 else ''}" for severity in Severity if (n := counts[severity])]
    return f"{', '.join(parts)}; `clusterwright explain {rows[0].code}` says more"
