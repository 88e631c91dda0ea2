"""A real all-reduce over every rank of a job step: exact sum checked, latency and bandwidth measured.

Small integers in double precision, so that the sum is exact in any order of addition. Rank 0 reports.
"""

from __future__ import annotations

import json
import os
import sys
import time
from array import array

from mpi4py import MPI

PATTERN = 1024
SMALL = 1  # one double: 8 bytes, latency
LARGE = 16 * 2**20 // 8  # 16 MiB of doubles: bandwidth
SECONDS = 0.1  # enough repetitions to be steady, few enough to be quick on a slow network
BATCHES = 3  # the best one counts: what else the machines do at that moment is not the network's

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()


def filled(length: int, first: int, step: int) -> array[float]:
    """`first + step * (i mod PATTERN)` for every i."""
    pattern = array("d", [first + step * i for i in range(PATTERN)])
    return (pattern * (length // PATTERN + 1))[:length]


def batch(mine: array[float], total: array[float], repetitions: int) -> float:
    """Seconds of one of these all-reduces, by the slowest rank."""
    world.Barrier()
    started = time.perf_counter()
    for _ in range(repetitions):
        world.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE], MPI.SUM)
    return float(world.allreduce(time.perf_counter() - started, MPI.MAX)) / repetitions


def all_reduce(length: int) -> tuple[float, bool]:
    """Seconds of one all-reduce at its best, and whether every rank got the exact sum."""
    mine = filled(length, rank, rank + 1)
    total = array("d", bytes(8 * length))
    wanted = filled(length, ranks * (ranks - 1) // 2, ranks * (ranks + 1) // 2)
    world.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE], MPI.SUM)
    exact = bool(world.allreduce(int(total.tobytes() == wanted.tobytes()), MPI.MIN))
    started = time.perf_counter()
    world.Allreduce([mine, MPI.DOUBLE], [total, MPI.DOUBLE], MPI.SUM)
    once = world.bcast(time.perf_counter() - started, 0)
    repetitions = max(1, min(200, int(SECONDS / BATCHES / max(once, 1e-7))))
    spent = min(batch(mine, total, repetitions) for _ in range(BATCHES))
    exact = exact and bool(world.allreduce(int(total.tobytes() == wanted.tobytes()), MPI.MIN))
    return spent, exact


nodes = sorted(set(world.allgather(MPI.Get_processor_name())))
small_seconds, small_exact = all_reduce(SMALL)
large_seconds, large_exact = all_reduce(LARGE)
if rank == 0:
    report = {
        "gate": "all-reduce",
        "job": os.environ["SLURM_JOB_ID"],
        "nodes": nodes,
        "ranks": ranks,
        "exact": small_exact and large_exact,
        "latency_us": round(small_seconds * 1e6, 2),
        "large_seconds": round(large_seconds, 6),
        "large_bytes": 8 * LARGE,
        "library": MPI.Get_library_version().split(",")[0].strip("\x00 \n"),
    }
    sys.stdout.write(json.dumps(report, sort_keys=True) + "\n")
