"""nvcc, which only tells its version, and the checks of GDRCopy."""

from __future__ import annotations

from collections.abc import Sequence

from .node import Answer, Node


def nvcc(node: Node, arguments: Sequence[str]) -> Answer:
    """`nvcc --version`; it compiles nothing."""
    if not {"--version", "-V"} & set(arguments):
        return Answer(error="nvcc fatal   : simulated by clusterwright: compiles nothing\n", status=1)
    release = ".".join(node.installed.split(".")[:2]) or "unknown"
    return Answer(
        "nvcc: NVIDIA (R) Cuda compiler driver (simulated by clusterwright)\n"
        f"Cuda compilation tools, release {release}, V{node.installed}\n"
    )


def gdrcopy_sanity(node: Node, arguments: Sequence[str]) -> Answer:
    """Its tests need the gdrdrv module and a GPU that answers."""
    del arguments
    if node.module("gdrdrv") is None:
        return Answer(error="error opening driver (errno=2/No such file or directory)\n", status=1)
    failed = not node.gpus or any(gpu.state == "failed" for gpu in node.gpus)
    passed = 0 if failed else 28
    return Answer(f"Total: 28, Passed: {passed}, Failed: {28 - passed}, Waived: 0 (simulated)\n", int(failed))


def gdrcopy_bandwidth(node: Node, arguments: Sequence[str]) -> Answer:
    """`gdrcopy_copybw`: a rate that says that it is none."""
    del arguments
    if node.module("gdrdrv") is None:
        return Answer(error="error opening driver (errno=2/No such file or directory)\n", status=1)
    return Answer("writing test, simulated by clusterwright: a rehearsal, no measurement\nclosing gdrdrv\n")
