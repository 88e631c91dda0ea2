"""Programs of which only little is asked: nvcc, ofed_info, enroot, and the checks of GDRCopy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .node import Answer, Node

_BUILT = """#!/usr/bin/python3 -I
# SIMULATED {program} of clusterwright's lab, made by its simulated nvcc; of no use elsewhere.
import sys

sys.path.insert(0, "/usr/lib/simulated-hardware")
from simulators.launch import main

sys.exit(main("{program}"))
"""


def nvcc(node: Node, arguments: Sequence[str]) -> Answer:
    """`nvcc --version`; of a source it makes the simulated program that the target is named after."""
    if not {"--version", "-V"} & set(arguments):
        return _made(list(arguments))
    release = ".".join(node.installed.split(".")[:2]) or "unknown"
    return Answer(
        "nvcc: NVIDIA (R) Cuda compiler driver (simulated by clusterwright)\n"
        f"Cuda compilation tools, release {release}, V{node.installed}\n"
    )


def _made(words: list[str]) -> Answer:
    """Fails as the real one does where the source, MPI's header or a GPU to build for is missing."""
    sources = [word for word in words if word.endswith(".cu")]
    missing = [word for word in sources if not Path(word).is_file()]
    if not sources or missing or "-o" not in words:
        return Answer(error="nvcc fatal   : No input files specified (simulated); use --help\n", status=1)
    folders = [word[2:] for word in words if word.startswith("-I")]
    if "-DMPI_SUPPORT" in words and not any((Path(one) / "mpi.h").is_file() for one in folders):
        return Answer(error="fatal error: mpi.h: No such file or directory (simulated nvcc)\n", status=1)
    if not any(word.startswith("-gencode=arch=compute_") for word in words):
        return Answer(error="nvcc fatal   : simulated by clusterwright: builds for no GPU\n", status=1)
    target = Path(words[words.index("-o") + 1])
    target.write_text(_BUILT.format(program=target.name), encoding="utf-8")
    target.chmod(0o755)
    return Answer()


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
