"""The pure core: description to rendered files, at sizes up to Slurm's limit, each in its own process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.result import Reference, Result

BARS = {1_000: 0.5, 10_000: 3.0, 65_000: 20.0}
MEMORY_BAR_MIB = 1024
_DESCRIPTION = """\
cluster: big
site: {{provider: onprem, network: 10.64.0.0/14}}
pools:
  controller: {{roles: [controller, storage], machine: generic-x86-32c}}
  login: {{roles: login, machine: generic-x86-16c, count: 2}}
  gpu: {{roles: compute, machine: hgx-h100-8gpu, count: {nodes}, racks: {{nodes_per_rack: 4}}}}
fabric: {{topology: tree, nodes_per_leaf: 8}}
users:
  ada: {{uid: 2001}}
storage:
  shares:
    /home: {{kind: served}}
"""


HALL = """\
cluster: hall
site:
  provider: onprem
  network: 10.64.0.0/14
  power_limit: 200 MW
  rooms:
    hall:
      rack: {units: 48, power_limit: 400 kW, pdus: {a: {limit: 400 kW}, b: {limit: 400 kW}}}
      rows: {a: {racks: "a[001-320]"}, m: {racks: "m[1-2]"}, n: {racks: "n[001-300]"}}
pools:
  controller:
    roles: [controller, storage]
    machine: generic-x86-32c
    racks: {names: m1, nodes_per_rack: 1, first_unit: 1}
  login:
    roles: login
    machine: generic-x86-16c
    count: 2
    racks: {names: "m[1-2]", nodes_per_rack: 1, first_unit: 9}
  gpu:
    roles: compute
    machine: hgx-h100-8gpu
    count: 10000
    racks: {names: "a[001-320]", nodes_per_rack: 32, first_unit: 2, units: 1, plugs: [a, b]}
fabric:
  topology: tree
  switches: {model: q3400-ra, power: 4 kW, racks: {names: "n[001-300]", per_rack: 10}}
users:
  ada: {uid: 2001}
storage:
  shares:
    /home: {kind: served}
"""


def described(nodes: int) -> str:
    """A cluster with this many compute nodes; without a number, 10,000 in racks of a described room."""
    return _DESCRIPTION.format(nodes=nodes) if nodes else HALL


def results() -> Iterator[Result]:
    reference: Reference | None = None
    for nodes, bar in BARS.items():
        measured = _in_own_process(nodes)
        seconds, mib = measured["seconds"], measured["mib"]
        yield Result(f"plan + checks + render, {nodes:,} nodes", seconds, bar, reference=reference)
        if nodes == 10_000:
            yield Result(f"memory of that, {nodes:,} nodes", mib, MEMORY_BAR_MIB, "MiB")
        reference = reference or Reference(f"{nodes:,} nodes", seconds)
    measured = _in_own_process(0)
    yield Result("plan + checks + render, 10,000 nodes in 320 described racks", measured["seconds"], 5.0)
    yield Result("memory of that, 320 described racks", measured["mib"], MEMORY_BAR_MIB, "MiB")


def _in_own_process(nodes: int) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.core", str(nodes)]
    measured: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return measured


def _measure(nodes: int) -> dict[str, float]:
    from clusterwright.checks import check
    from clusterwright.finding import Severity
    from clusterwright.handoff import from_plan
    from clusterwright.plan import plan
    from clusterwright.render import render
    from clusterwright.spec.load import loads

    loaded = loads(described(nodes))
    start = time.perf_counter()
    findings = check(loaded.spec, loaded.where)
    assert not [finding for finding in findings if finding.severity is Severity.ERROR], findings
    files = render(from_plan(plan(loaded.spec)))
    seconds = time.perf_counter() - start
    assert any("gpu-" in file.content for file in files)
    return {"seconds": seconds, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
