"""The live view of long work: a line for each step, a row for each node that is being worked on."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from clusterwright.event import Event, Report, Status

_MARK: dict[Status, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "changed": ("✓", "yellow"),
    "failed": ("✗", "bold red"),
    "unreachable": ("✗", "bold red"),
    "skipped": ("–", "dim"),
}
_DONE = frozenset(_MARK)
_BROKEN = ("failed", "unreachable")
_TOLD: tuple[Status, ...] = ("changed", "failed", "unreachable")


@contextmanager
def live() -> Iterator[Report]:
    """The view, on standard error. What stays on the screen at the end is how each step ended."""
    view = View()
    with Live(view, console=Console(stderr=True), refresh_per_second=8):
        try:
            yield view.see
        finally:
            view.finish()


@dataclass
class _Step:
    """A stage of the work. It ends when it says so, or when the next one begins."""

    name: str
    started: float
    text: str = ""
    ended: float | None = None
    broken: bool = False
    nodes: dict[str, Event] = field(default_factory=dict)

    def see(self, event: Event, now: float) -> None:
        self.broken |= event.status in _BROKEN
        self.ended = now if event.status in _DONE and not event.node else None
        if event.node:
            if "[" not in event.node:  # a set of nodes is no row of its own
                self.nodes[event.node] = event
        else:
            self.text = event.text

    def end(self, now: float) -> None:
        self.ended = self.ended or now

    def words(self) -> str:
        """What it does; once it has ended, on how many nodes and what became of them."""
        if self.ended is None or not self.nodes:
            return self.text
        counts = Counter(event.status for event in self.nodes.values())
        told = [f"{counts[status]} {status}" for status in _TOLD if counts[status]]
        return ", ".join([f"{len(self.nodes)} nodes", *told])


class View:
    """What is known of the work so far."""

    def __init__(self) -> None:
        self._steps: dict[str, _Step] = {}
        self._spinner = Spinner("dots", style="cyan")
        self._lock = threading.Lock()  # events come from worker threads while rich's own draws

    def finish(self) -> None:
        with self._lock:
            for step in self._steps.values():
                step.end(time.monotonic())

    def see(self, event: Event) -> None:
        with self._lock:
            self._take(event, time.monotonic())

    def _take(self, event: Event, now: float) -> None:
        step = self._steps.get(event.step)
        if step is None:
            for earlier in self._steps.values():
                earlier.end(now)
            step = self._steps[event.step] = _Step(event.step, now)
        step.see(event, now)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with self._lock:
            steps = Table.grid(padding=(0, 1))
            for step in self._steps.values():
                steps.add_row(*self._line(step))
            view = Group(steps, *self._nodes(console.height - len(self._steps) - 3))
        yield view

    def _line(self, step: _Step) -> tuple[Spinner | Text, Text, Text, Text]:
        seconds = (step.ended or time.monotonic()) - step.started
        done = Text(*_MARK["failed" if step.broken else "ok"])
        mark = self._spinner if step.ended is None else done
        words = Text(step.words(), overflow="ellipsis", no_wrap=True)
        return mark, Text(step.name, "bold"), Text(f"{seconds:6.1f} s", "dim"), words

    def _nodes(self, room: int) -> Iterator[Table]:
        """Nodes of the steps that still run, and those that broke; no more than fit, the broken first."""
        rows = [
            event
            for step in self._steps.values()
            for event in step.nodes.values()
            if event.status in _BROKEN or step.ended is None
        ]
        if not rows:
            return
        rows.sort(key=lambda event: (event.status not in _BROKEN, event.status in _DONE, event.node or ""))
        table = Table.grid(padding=(0, 2))
        shown = rows[: max(room, 3)]
        for event in shown:
            mark, style = _MARK.get(event.status, ("·", "cyan"))
            table.add_row(
                "   " + mark, Text(event.node or "", style), Text(event.status, style), Text(event.text)
            )
        if len(shown) < len(rows):
            table.add_row("", Text(f"and {len(rows) - len(shown)} more", "dim"), "", "")
        yield table
