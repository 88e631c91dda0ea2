"""Machines with an operating system, SSH and a password: how long until the cluster has them all."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.story.bare import KNOWN, floor_of
from tests.story.ground import Desk

from bench.result import Result
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing

_NAMES = ("head", *(f"box{number:02}" for number in range(1, 16)))
_DESCRIPTION = """\
cluster: bare
site: {provider: onprem, network: NETWORK, machines: machines.csv}
pools:
  head: {roles: [controller, login], machine: generic-x86-2c}
  box: {roles: compute, machine: generic-x86-2c, nodes: "box[01-15]"}
users: {ada: {uid: 2001}}
software: {distribution: debian-13, monitoring: false}
scheduler: {accounting: false}
"""


def results() -> Iterator[Result]:
    """Nothing where a lab cannot be made."""
    if missing(LabHome.of_user()):
        return
    with tempfile.TemporaryDirectory(prefix="clusterwright-bench-") as folder:
        desk = Desk(Path(folder))
        with floor_of(desk, _DESCRIPTION, "node\n", _NAMES) as floor:
            for name in _NAMES:
                floor.on(name, KNOWN)
            start, before = time.perf_counter(), _own_seconds()
            desk.run("bootstrap", "cluster.yaml", *floor.reached("--accept-new"))
            seconds, own = time.perf_counter() - start, _own_seconds() - before
    note = f"of it {own:.0f} CPU-seconds on the operator's machine"
    yield Result(f"`bootstrap` of {len(_NAMES)} machines that have a password", seconds, 60, note=note)


def _own_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
