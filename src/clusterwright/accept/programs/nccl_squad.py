"""Inside an allocation: NCCL within each of its nodes, then between all of them, as two job steps.

Argument: a JSON object with the allocation's `shape`, `alone` (what each node runs for itself), `arguments`
and `environment` of all_reduce_perf over all nodes. What the nodes report is passed on; one more object says
what they did together. Python 3.9 and its standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

asked = json.loads(sys.argv[1])
# A step of one task a node would be bound to one processor; NCCL places its own threads.
step = ["srun", *asked["shape"], "--cpu-bind=none"]
started = time.monotonic()
alone = subprocess.run([*step, *asked["alone"]], stdout=subprocess.PIPE, text=True)
spent = round(time.monotonic() - started, 3)
sys.stdout.write(alone.stdout + json.dumps({"alone": spent}) + "\n")
rows = [json.loads(line) for line in alone.stdout.splitlines() if line.startswith("{")]
programs = [row["program"] for row in rows if row.get("program")]
if alone.returncode or len(programs) < 2:
    sys.exit(alone.returncode)
started = time.monotonic()
whole = subprocess.run(
    [*step, programs[0], *asked["arguments"]],
    env={**os.environ, **asked["environment"]},
    stdout=subprocess.PIPE,
    stderr=subprocess.STDOUT,
    text=True,
)
spent = round(time.monotonic() - started, 3)
report = {"code": whole.returncode, "seconds": spent, "together": whole.stdout}
sys.stdout.write(json.dumps(report) + "\n")
