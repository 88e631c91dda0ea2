"""A real all-reduce over every rank of a job step: exact sum checked, latency and bandwidth measured.

Small integers in double precision, so that the sum is exact in any order of addition. Rank 0 reports.
Open MPI is asked by its C functions: not every distribution has Python's bindings for it.
"""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import sys
import time
from array import array
from typing import Any

LIBRARIES = ("libmpi.so.40", "/usr/lib64/openmpi/lib/libmpi.so.40")
"""Open MPI 4 and 5, where the loader finds it, and where Red Hat's family has it."""
NAME = 256  # MPI_MAX_PROCESSOR_NAME and MPI_MAX_LIBRARY_VERSION_STRING of Open MPI
PATTERN = 1024
SMALL = 1  # one double: 8 bytes, latency
LARGE = 16 * 2**20 // 8  # 16 MiB of doubles: bandwidth
SECONDS = 0.1  # enough repetitions to be steady, few enough to be quick on a slow network
BATCHES = 3  # the best one counts: what else the machines do at that moment is not the network's


class World:
    """All ranks of the job step, and what one of them does with the others."""

    def __init__(self) -> None:
        self._mpi = _library()
        self._all = self._handle("comm_world")
        self._mpi.MPI_Init(None, None)
        atexit.register(self._mpi.MPI_Finalize)
        self.rank, self.ranks = self._number("MPI_Comm_rank"), self._number("MPI_Comm_size")

    def _handle(self, name: str) -> Any:
        return ctypes.byref(ctypes.c_char.in_dll(self._mpi, f"ompi_mpi_{name}"))

    def _number(self, function: str) -> int:
        found = ctypes.c_int()
        getattr(self._mpi, function)(self._all, ctypes.byref(found))
        return found.value

    def text(self, function: str) -> str:
        found, length = ctypes.create_string_buffer(NAME), ctypes.c_int()
        getattr(self._mpi, function)(found, ctypes.byref(length))
        return found.value.decode()

    def barrier(self) -> None:
        self._mpi.MPI_Barrier(self._all)

    def sum(self, mine: array[float], total: array[float]) -> None:
        """`total` of every rank becomes the sum of what each has in `mine`."""
        self._reduce(mine, total, "sum")

    def most(self, mine: float) -> float:
        found = array("d", [0.0])
        self._reduce(array("d", [mine]), found, "max")
        return found[0]

    def _reduce(self, mine: array[float], total: array[float], how: str) -> None:
        (source, length), (target, _) = mine.buffer_info(), total.buffer_info()
        number, how = self._handle("double"), self._handle(f"op_{how}")
        address = ctypes.c_void_p
        self._mpi.MPI_Allreduce(address(source), address(target), length, number, how, self._all)

    def gathered(self, mine: str) -> list[str]:
        """What each rank has, by rank."""
        every, letter = ctypes.create_string_buffer(NAME * self.ranks), self._handle("char")
        one = ctypes.create_string_buffer(mine.encode(), NAME)
        self._mpi.MPI_Allgather(one, NAME, letter, every, NAME, letter, self._all)
        return [every.raw[at : at + NAME].rstrip(b"\0").decode() for at in range(0, len(every), NAME)]


def _library() -> ctypes.CDLL:
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)  # its plug-ins look there for its functions
        except OSError as error:
            said = str(error)
    sys.exit(f"Open MPI cannot be loaded: {said}")


def filled(length: int, first: int, step: int) -> array[float]:
    """`first + step * (i mod PATTERN)` for every i."""
    pattern = array("d", [first + step * i for i in range(PATTERN)])
    return (pattern * (length // PATTERN + 1))[:length]


def batch(mine: array[float], total: array[float], repetitions: int) -> float:
    """Seconds of one of these all-reduces, by the slowest rank."""
    world.barrier()
    started = time.perf_counter()
    for _ in range(repetitions):
        world.sum(mine, total)
    return world.most(time.perf_counter() - started) / repetitions


def all_reduce(length: int) -> tuple[float, bool]:
    """Seconds of one all-reduce at its best, and whether every rank got the exact sum."""
    ranks = world.ranks
    mine = filled(length, world.rank, world.rank + 1)
    total = array("d", bytes(8 * length))
    wanted = filled(length, ranks * (ranks - 1) // 2, ranks * (ranks + 1) // 2)
    world.sum(mine, total)
    wrong = total.tobytes() != wanted.tobytes()
    started = time.perf_counter()
    world.sum(mine, total)
    once = world.most(time.perf_counter() - started)
    repetitions = max(1, min(200, int(SECONDS / BATCHES / max(once, 1e-7))))
    spent = min(batch(mine, total, repetitions) for _ in range(BATCHES))
    wrong = wrong or total.tobytes() != wanted.tobytes()
    return spent, not world.most(wrong)


world = World()
nodes = sorted(set(world.gathered(world.text("MPI_Get_processor_name"))))
small_seconds, small_exact = all_reduce(SMALL)
large_seconds, large_exact = all_reduce(LARGE)
if world.rank == 0:
    report = {
        "gate": "all-reduce",
        "job": os.environ["SLURM_JOB_ID"],
        "nodes": nodes,
        "ranks": world.ranks,
        "exact": small_exact and large_exact,
        "latency_us": round(small_seconds * 1e6, 2),
        "large_seconds": round(large_seconds, 6),
        "large_bytes": 8 * LARGE,
        "library": world.text("MPI_Get_library_version").split(",")[0].strip(),
    }
    sys.stdout.write(json.dumps(report, sort_keys=True) + "\n")
    sys.stdout.flush()  # whatever becomes of MPI_Finalize
