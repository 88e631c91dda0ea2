"""Runs a command in an allocation from the moment on that its nodes are ready.

srun and salloc look 0.1, 1.1, 2.6 … seconds after they were given nodes whether the prolog has ended there
(Slurm's src/srun/allocate.c and src/salloc/salloc.c). A step in an allocation that salloc holds begins when
it has. Argument: a JSON object with `options` of salloc and `command`, which starts steps. The exit status is
the command's. Python 3.9 and its standard library only.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

asked = json.loads(sys.argv[1])
holder = subprocess.Popen(
    ["salloc", *asked["options"], "cat"],  # it ends with the pipe, and so with this program
    stdin=subprocess.PIPE,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    text=True,
)
job, words = "", ""
assert holder.stderr
for line in holder.stderr:
    words += line
    granted = re.search(r"Granted job allocation (\d+)", line)
    if granted:
        job = granted[1]
        break
if not job:
    sys.stderr.write(words)
    sys.exit(holder.wait() or 1)
environment = {**os.environ, "SLURM_JOB_ID": job}
done = subprocess.run(asked["command"], env=environment, stderr=subprocess.PIPE, text=True, errors="replace")
_, rest = holder.communicate()
faults = [line for line in rest.splitlines(keepends=True) if re.search("error:|failure", line)]
sys.stderr.write("".join([words, done.stderr, *faults]))
sys.exit(done.returncode)
