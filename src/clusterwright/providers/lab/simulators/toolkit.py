"""Programs of which only little is asked: nvcc, ofed_info, enroot, and the checks of GDRCopy."""

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


def ofed_info(node: Node, arguments: Sequence[str]) -> Answer:
    """`ofed_info -s`: the release of DOCA-OFED."""
    if list(arguments) in (["-s"], ["-n"]):
        return Answer(f"OFED-internal-{node.installed}:\n" if arguments[0] == "-s" else f"{node.installed}\n")
    return Answer(f"OFED-internal-{node.installed} (simulated by clusterwright):\n")


def enroot(node: Node, arguments: Sequence[str]) -> Answer:
    """`enroot version`; it starts no container."""
    if list(arguments) == ["version"]:
        return Answer(f"{node.installed}\n")
    return Answer(error="[ERROR] simulated by clusterwright: starts no container\n", status=1)
