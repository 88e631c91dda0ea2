"""A plain table: aligned columns, bold heads on a terminal, nothing that a pipe would choke on."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence

from clusterwright.cli.terminal.style import paint

_STYLES = (
    (re.compile(r"(running|idle|ok|pass|accepted|live|mixed|allocated)\b"), "green"),
    (re.compile(r"(failed|fail|missing|down|not accepted|replace|unreachable)\b"), "bold red"),
    (re.compile(r"(stopped|drain|reboot|daemon-restart|changed|skip)"), "yellow"),
)


def print_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """To standard output. A column in which nothing stands is left out."""
    body = [list(row) for row in rows]
    kept = [column for column in range(len(heads)) if any(row[column] for row in body)]
    widths = [max(len(text) for text in (heads[c], *(row[c] for row in body))) for c in kept]
    print(_line([paint(f"{heads[c]:<{w}}", "bold", sys.stdout) for c, w in zip(kept, widths, strict=True)]))
    for row in body:
        print(_line([_coloured(row[c], w) for c, w in zip(kept, widths, strict=True)]))


def _line(cells: Sequence[str]) -> str:
    return "  ".join(cells).rstrip()


def _coloured(text: str, width: int) -> str:
    style = next((style for words, style in _STYLES if words.match(text)), None)
    padded = f"{text:<{width}}"
    return paint(padded, style, sys.stdout) if style else padded
