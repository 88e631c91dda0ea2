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


def described(nodes: int) -> str:
    """A cluster with this many compute nodes."""
    return _DESCRIPTION.format(nodes=nodes)


def results() -> Iterator[Result]:
    reference: Reference | None = None
    for nodes, bar in BARS.items():
        measured = _in_own_process(nodes)
        seconds, mib = measured["seconds"], measured["mib"]
        yield Result(f"plan + checks + render, {nodes:,} nodes", seconds, bar, reference=reference)
        if nodes == 10_000:
            yield Result(f"memory of that, {nodes:,} nodes", mib, MEMORY_BAR_MIB, "MiB")
        reference = reference or Reference(f"{nodes:,} nodes", seconds)


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
