"""Long work as it is seen: live on a terminal, in lines when piped, as JSON for a program."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from clusterwright.cli.terminal.live import View
from clusterwright.cli.terminal.progress import progress
from clusterwright.event import Event

EVENTS = [
    Event("nodes", "started", "booting"),
    Event("nodes", "progress", "boots", "gpu-001"),
    Event("nodes", "ok", "answers", "gpu-001"),
    Event("converge", "started", "placing files"),
    Event("converge", "changed", "slurm.conf", "gpu-001"),
    Event("converge", "unreachable", "no route", "gpu-002"),
]


def _screen(view: View) -> str:
    console = Console(file=io.StringIO(), width=80, height=20, color_system=None)
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_live_view_shows_the_nodes_of_the_running_step() -> None:
    view = View()
    for event in EVENTS[:2]:
        view.see(event)
    assert "booting" in _screen(view)
    assert "boots" in _screen(view)


def test_live_view_ends_with_what_became_of_each_step() -> None:
    view = View()
    for event in EVENTS:
        view.see(event)
    view.finish()
    nodes, converge, *broken = _screen(view).splitlines()
    assert nodes.startswith("✓ nodes") and nodes.rstrip().endswith("1 nodes")
    assert converge.startswith("✗ converge") and converge.rstrip().endswith("1 changed, 1 unreachable")
    assert [line.split() for line in broken] == [["✗", "gpu-002", "unreachable", "no", "route"]]


def test_live_view_of_a_thousand_nodes_fits_the_screen() -> None:
    view = View()
    for number in range(1000):
        view.see(Event("nodes", "progress", "boots", f"gpu-{number:03d}"))
    lines = _screen(view).splitlines()
    assert len(lines) <= 20
    assert "and 984 more" in lines[-1]


def test_lines_tell_steps_and_what_changed_or_broke(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(as_json=False) as report:
        for event in EVENTS:
            report(event)
    told = [line.split()[1:] for line in capsys.readouterr().err.splitlines()]
    assert told == [
        ["nodes", "started", "booting"],
        ["converge", "started", "placing", "files"],
        ["converge", "changed", "gpu-001", "slurm.conf"],
        ["converge", "unreachable", "gpu-002", "no", "route"],
    ]


def test_json_has_every_event_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(as_json=True) as report:
        for event in EVENTS:
            report(event)
    lines = capsys.readouterr().out.splitlines()
    assert [Event(**json.loads(line)["event"]) for line in lines] == EVENTS
