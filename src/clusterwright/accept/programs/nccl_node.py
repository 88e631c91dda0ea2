"""NCCL's all_reduce over the GPUs of this node alone, by nccl-tests where the node has it.

Arguments: number of GPUs, smallest and largest message. Python 3.9 and its standard library only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SECONDS = 100
SHORT = 400
# Where it is built by hand or by an image: azhpc-images, the AWS Deep Learning AMIs, OCI's HPC images.
PLACES = (
    "opt/nccl-tests/build",
    "usr/local/cuda/efa/test-cuda-*",
    "opt/oci-hpc/nccl-test/build",
    "opt/rccl-tests/build",
    "opt/oci-hpc/rccl-tests/build",
)
STARTERS = ("SLURM_", "PMI_", "PMIX_", "OMPI_", "PRTE_")  # a step of its own, of one process


def found() -> str:
    places = [str(path) for pattern in PLACES for path in sorted(Path("/").glob(pattern))]
    return shutil.which("all_reduce_perf", path=os.pathsep.join([os.environ["PATH"], *places])) or ""


program = found()
said = ""
report: dict[str, object] = {
    "gate": "nccl-node",
    "job": os.environ["SLURM_JOB_ID"],
    "node": os.environ["SLURMD_NODENAME"],
    "program": program,
}
if program:
    gpus, least, most = sys.argv[1:]
    command = [program, "-b", least, "-e", most, "-f", "2", "-n", "5", "-w", "1", "-c", "0", "-g", gpus]
    alone = {name: value for name, value in os.environ.items() if not name.startswith(STARTERS)}
    try:
        done = subprocess.run(
            command, env=alone, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS
        )
        report["code"], said = done.returncode, done.stdout[-20_000:]
    except subprocess.TimeoutExpired:
        report["code"], said = 124, f"no end within {SECONDS} s"
# srun keeps a line of a task together up to 1024 bytes (SLURM_IO_MAX_MSG_LEN); others tear a longer one.
rows = [report, *({"node": report["node"], "said": line[:SHORT]} for line in said.splitlines())]
sys.stdout.write("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))
