"""A machine without a system, from its power button to a job, where everything of it is emulated."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.story.ground import Desk
from tests.story.netbooted import HEAD, TIME_SERVER, WORK, floor_of, unmet

from bench.result import Result
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing


def results() -> Iterator[Result]:
    """Nothing where a lab or QEMU cannot be."""
    if missing(LabHome.of_user()) or unmet():
        return
    with tempfile.TemporaryDirectory(prefix="clusterwright-bench-") as folder:
        desk = Desk(Path(folder))
        with floor_of(desk) as floor:
            desk.run("bootstrap", "own.yaml", HEAD, "--identity", "site.key", "--accept-new")
            start = time.perf_counter()
            desk.run("image", "build", "own.yaml")
            yield Result("`image build` for network boot", time.perf_counter() - start)
            desk.run("up", "own.yaml", "--no-accept")
            floor.on(HEAD, TIME_SERVER)
            start = time.perf_counter()
            floor.provisioned()
            certified = time.perf_counter() - start
            desk.run("up", "own.yaml", "--no-accept")
            assert floor.job("hostname") == WORK
            seconds, emulated = time.perf_counter() - start, floor.machine.emulated
            note = f"emulation computed for {emulated:.0f} s, on two cores; certified after {certified:.0f} s"
            yield Result("network boot of a QEMU machine to a Slurm job", seconds, note=note)
