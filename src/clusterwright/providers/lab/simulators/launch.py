"""From a program's name to its simulator: what every launcher in /usr/bin of a lab node calls."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from .node import MARKER_FOLDER, MOUNTS, NODE_FOLDER, STATE_FOLDER, Answer, Node, NoLabNode, find_node

Simulator = Callable[[Node, Sequence[str]], Answer]
PROGRAMS = {
    "all_gather_perf": "nccl_tests:answer:",
    "all_reduce_perf": "nccl_tests:answer:",
    "alltoall_perf": "nccl_tests:answer:",
    "amd-smi": "amd_smi:answer",
    "beegfs-client": "services:start:",
    "broadcast_perf": "nccl_tests:answer:",
    "ceph": "ceph:ceph",
    "dcgm-exporter": "exporter:start",
    "dcgmi": "dcgmi:answer",
    "enroot": "toolkit:enroot",
    "fi_info": "libfabric:answer",
    "fi_pingpong": "libfabric:pingpong",
    "fio": "fio:answer",
    "gcsfuse": "buckets:version:",
    "gdrcopy_copybw": "toolkit:gdrcopy_bandwidth",
    "gdrcopy_sanity": "toolkit:gdrcopy_sanity",
    "ib_write_bw": "perftest:answer",
    "lctl": "lustre:lctl",
    "lfs": "lustre:lfs",
    "lnetctl": "lnet:lnetctl",
    "lustre_rmmod": "lnet:remove_modules",
    "mokutil": "firmware:mokutil",
    "mount.ceph": "ceph:mount",
    "mount.gcsfuse": "buckets:mount:",
    "mount.lustre": "lustre:mount",
    "mount.mount-s3": "buckets:mount:",
    "mount.wekafs": "weka:mount",
    "mount-s3": "buckets:version:",
    "nv-fabricmanager": "services:start:",
    "nv-hostengine": "services:start:",
    "nvcc": "toolkit:nvcc",
    "nvidia-ctk": "container_toolkit:answer",
    "nvidia-cuda-mps-control": "mps:control",
    "nvidia-cuda-mps-server": "mps:server",
    "nvidia-imex": "services:start:",
    "nvidia-persistenced": "services:start:",
    "nvidia-smi": "nvidia_smi:answer",
    "nvml": "nvml:answer",
    "ofed_info": "toolkit:ofed_info",
    "podman": "podman:answer",
    "reduce_perf": "nccl_tests:answer:",
    "reduce_scatter_perf": "nccl_tests:answer:",
    "rocm-smi": "rocm_smi:answer",
    "sendrecv_perf": "nccl_tests:answer:",
    "weka": "weka:weka",
    "weka-agent": "services:start:",
}
"""Program → module and function; a colon at the end: one simulator of several programs, told which."""
REFUSAL = "a simulator of clusterwright's lab; this machine is no lab node, so it refuses to run"
_CANNOT_RUN = 126  # the shell's status for what is found and cannot be executed


def main(
    program: str,
    installed: str = "",
    arguments: Sequence[str] | None = None,
    state: Path = STATE_FOLDER,
    own: Path = NODE_FOLDER,
    markers: Path = MARKER_FOLDER,
    mounts: Path = MOUNTS,
) -> int:
    """Answer as `program` does; the exit status of the real one."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as a program in C: ends silently when nobody reads on
    try:
        node = find_node(installed, state, own, markers, mounts)
    except NoLabNode:
        sys.stderr.write(f"{program}: {REFUSAL}\n")
        return _CANNOT_RUN
    given = simulator_of(program)(node, sys.argv[1:] if arguments is None else arguments)
    sys.stdout.write(given.text)
    sys.stdout.flush()
    sys.stderr.write(given.error)
    if given.hangs:
        _hang()
    return given.status


def simulator_of(program: str) -> Simulator:
    """The function that answers for a program."""
    module, name, *told = PROGRAMS[program].split(":")
    found = getattr(import_module(f".{module}", __package__), name)
    simulator: Simulator = (lambda node, words: found(node, program, words)) if told else partial(found)
    return simulator


def _hang() -> NoReturn:
    while True:
        signal.pause()
