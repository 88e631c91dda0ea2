"""Long work as a person or a program follows it: a live table, plain lines, or JSON lines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from clusterwright.cli.terminal.style import paint
from clusterwright.event import Event, Report

_STYLE = {
    "ok": "green",
    "changed": "yellow",
    "failed": "bold red",
    "unreachable": "bold red",
    "skipped": "dim",
}
_NEWS = ("changed", "failed", "unreachable")


@contextmanager
def progress(*, as_json: bool) -> Iterator[Report]:
    """Where events go until the work is done. JSON to standard output, everything else to standard error."""
    if as_json:
        yield _json_line
    elif sys.stderr.isatty():
        from clusterwright.cli.terminal.live import live

        with live() as report:
            yield report
    else:
        yield Lines()


def _json_line(event: Event) -> None:
    print(json.dumps({"event": asdict(event)}), flush=True)


class Lines:
    """A line an event, with the seconds since the start. Of nodes, only what changed or broke."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def __call__(self, event: Event) -> None:
        if event.node and event.status not in _NEWS:
            return
        seconds = time.monotonic() - self._start
        status = paint(f"{event.status:<11}", _STYLE.get(event.status, "bold"), sys.stderr)
        words = " ".join(part for part in (event.node, event.text) if part)
        print(f"{seconds:7.1f}s  {event.step:<10} {status} {words}".rstrip(), file=sys.stderr, flush=True)
