"""Nodes that converge themselves: what one of sixteen spends and one alone, and what the server spends."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.lab import Bench, bench_of
from bench.result import Reference, Result
from clusterwright.providers.lab.home import LabHome
from clusterwright.providers.lab.host import missing
from clusterwright.providers.lab.network import lab_key
from clusterwright.providers.lab.store import servers

_MANY = 16
_PLAIN = [sys.executable, "-c", "import ansible.cli.playbook, ansible.executor.playbook_executor, yaml"]
_DESCRIPTION = """\
cluster: {name}
site: {{provider: lab}}
converge: pull
pools:
  controller: {{roles: [controller, login], machine: lab-small}}
  gpu: {{roles: compute, machine: lab-h100, count: {nodes}}}
users:
  ada: {{uid: 2001}}
"""


def results() -> Iterator[Result]:
    """Nothing where a lab cannot be made."""
    if missing(LabHome.of_user()):
        return
    with bench_of("pull-1", _DESCRIPTION.format(name="pull-1", nodes=1)) as bench:
        _, outcome = bench.outcome("up", "cluster.yaml")
        assert outcome["accepted"]
        alone = max(_cpu_seconds(bench))
    with bench_of("pull-16", _DESCRIPTION.format(name="pull-16", nodes=_MANY)) as bench:
        seconds, outcome = bench.outcome("up", "cluster.yaml")
        assert outcome["accepted"]
        many, server = _cpu_seconds(bench), _server_seconds(bench)
    each = sum(many) / len(many)
    note = f"{each:.1f} s each of {_MANY}, {alone:.1f} s alone"
    plain = Reference("a plain program as one of 16", _plain_seconds(_MANY) / _plain_seconds(1))
    what = "CPU of a node that pulls, as one of 16 to alone"
    yield Result(what, each / alone, 1.2, "×", reference=plain, note=note)
    yield Result("CPU of the bundle's server, a node", server / (_MANY + 1), 0.1, note="HTTPS, in Python")
    yield Result("`up` of 16 compute nodes that pull, image cached", seconds)


def _cpu_seconds(bench: Bench) -> list[float]:
    """Of each compute node's agent and everything that it ran."""
    nodes = json.loads(bench.run("status", bench.name, "--json")[1])["nodes"]
    return [node["report"]["cpu_seconds"] for node in nodes if "compute" in node["roles"]]


def _plain_seconds(many: int) -> float:
    """CPU of one of so many at once: cores that share caches and units do less in a second of it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for process in [subprocess.Popen(_PLAIN) for _ in range(many)]:
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / many


def _server_seconds(bench: Bench) -> float:
    [pid] = servers(lab_key(LabHome.of_user(bench.environment), bench.name))
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
