"""Nodes that the simulators answer for, in a folder of the test's own."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from simulated_machines import World


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A node's folders; what was started in it ends with the test."""
    running: list[subprocess.Popen[bytes]] = []

    def run(daemon: str) -> None:
        process = subprocess.Popen([daemon, "60"], executable="/bin/sleep")
        running.append(process)
        while daemon.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes():
            time.sleep(0.001)
        services = tmp_path / "own" / "services"
        services.mkdir(parents=True, exist_ok=True)
        (services / daemon).write_text(f"{process.pid}\n")

    yield World(tmp_path, run)
    for process in running:
        process.kill()
        process.wait()
