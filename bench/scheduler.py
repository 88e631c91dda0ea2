"""A real slurmctld on a large cluster's rendered configuration, in namespaces of its own."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tests.render.daemons import place, stage, start_controller
from tests.render.roots import Unavailable, root

from bench.core import described
from bench.result import Reference, Result
from clusterwright.handoff import from_plan
from clusterwright.plan import plan
from clusterwright.render import render
from clusterwright.spec.load import loads

_SIZES = (1_000, 10_000)
_RELEASE = "24.11"
_PATIENCE_SECONDS = 120


def results() -> Iterator[Result]:
    """Nothing where no root file system with Slurm can be made."""
    try:
        carrying = root(_RELEASE)
    except Unavailable:
        return
    reference: Reference | None = None
    for nodes in _SIZES:
        seconds, mib = _start(carrying, nodes)
        what = f"slurmctld {_RELEASE} on the rendered configuration of {nodes:,} nodes"
        yield Result(
            f"{what}, to its answer", seconds, reference=reference, note="no database, no state to recover"
        )
        yield Result(f"its memory, {nodes:,} nodes", mib, unit="MiB")
        reference = reference or Reference(f"{nodes:,} nodes", seconds)


def _start(carrying: Path, nodes: int) -> tuple[float, int]:
    made = from_plan(plan(loads(described(nodes)).spec))
    handoff = replace(made, scheduler={**made.scheduler, "accounting": False})
    with (
        tempfile.TemporaryDirectory(prefix="clusterwright-bench-") as top,
        stage(carrying, handoff, Path(top)) as machine,
    ):
        place(machine, render(handoff))
        started = time.perf_counter()
        log = start_controller(machine, handoff)["slurmctld"]
        while machine.run("sinfo", "--noheader", "--format=%D").split() != [str(nodes)]:
            if time.perf_counter() > started + _PATIENCE_SECONDS:
                raise RuntimeError(log.read_text()[-800:])
            time.sleep(0.05)
        seconds = time.perf_counter() - started
        return seconds, machine.memory_mib("slurmctld")
