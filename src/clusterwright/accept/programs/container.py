"""Runs as a task of a job with one GPU: does a container that is given this GPU have it, and only it?

The image is made of the shell that the node has: nothing is pulled, and there is no network. All of it is in
one folder on the node that is removed. Python 3.9 and its standard library only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SECONDS = 50
SHELL = "/bin/sh"
# Opened as they are: a device that the job was not given is refused, one that is given may have a fault.
LOOK = "for f in /dev/nvidia[0-9]*; do [ -e $f ] || continue; echo $f; (: <$f) 2>&1 || :; done"
REFUSED = re.compile(r"Operation not permitted|Permission denied")


def run(*command: str, stdin: bytes = b"") -> tuple[int, str]:
    try:
        done = subprocess.run(
            command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 124, str(error)
    return done.returncode, done.stdout.decode(errors="replace")


def files() -> list[str]:
    """The shell and the libraries that it is linked with."""
    _, linked = run("ldd", os.path.realpath(SHELL))
    return [SHELL, *sorted(set(re.findall(r"(/\S+) \(0x", linked)))]


def try_container(folder: str, gpu: str) -> tuple[int, str]:
    archive = subprocess.run(
        ["tar", "--create", "--dereference", "--directory=/", *(path.lstrip("/") for path in files())],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=SECONDS,
    )
    podman = ["podman", f"--root={folder}/root", f"--runroot={folder}/run", "--storage-driver=vfs"]
    code, said = run(*podman, "import", "--quiet", "-", "localhost/look:latest", stdin=archive.stdout)
    if code:
        return code, said
    options = ["--rm", "--network=none", f"--device=nvidia.com/gpu={gpu}"]
    return run(*podman, "run", *options, "localhost/look:latest", SHELL, "-c", LOOK)


given = (os.environ.get("SLURM_STEP_GPUS") or os.environ.get("SLURM_JOB_GPUS") or "").split(",")[0]
report: dict[str, object] = {
    "gate": "container",
    "job": os.environ["SLURM_JOB_ID"],
    "node": os.environ["SLURMD_NODENAME"],
    "given": given,
}
place = tempfile.mkdtemp(prefix="clusterwright-container-")
try:
    status, output = try_container(place, given)
finally:
    # Files of other users in a container's user namespace are removed from within one.
    subprocess.run(["podman", "unshare", "rm", "-rf", place], stderr=subprocess.DEVNULL, check=False)
    shutil.rmtree(place, ignore_errors=True)
seen = re.findall(r"^/dev/nvidia(\d+)$", output, re.MULTILINE)
report.update(code=status, devices=seen, refused=bool(REFUSED.search(output)), output=output[-2000:])
sys.stdout.write(json.dumps(report, sort_keys=True) + "\n")
