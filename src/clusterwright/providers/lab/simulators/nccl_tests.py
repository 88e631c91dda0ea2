"""The programs of nccl-tests: their options and their table, with a rate that follows from the state file.

Under MPI every rank knows its own node only, so the real mpi4py, where it is installed, finds the slowest.
Without it each rank runs for itself, as a build without MPI does.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from . import podman
from .bandwidth import bus_bandwidth
from .hardware import SimulatedNic
from .node import Answer, Node

_LATENCY_US = 30.0
_FACTORS = {
    "all_gather_perf": (1, 1),
    "all_reduce_perf": (2, 1),
    "alltoall_perf": (1, 1),
    "broadcast_perf": (1, 0),
    "reduce_perf": (1, 0),
    "reduce_scatter_perf": (1, 1),
    "sendrecv_perf": (1, 0),
}
"""(a, b): bus over algorithm bandwidth is a * (n - b) / n with n ranks (nccl-tests, PERFORMANCE.md)."""
_PLUGINS = {
    "FasTrak": "NET/FasTrak plugin initialized",
    "Libfabric": "NET/OFI Selected provider is efa, fabric is efa",
    "gIB": "NET/gIB : Initializing gIB",
}
"""What each says once it is there (aws-ofi-nccl's source; Google Cloud, Enable NCCL/gIB)."""
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
_SIDE = "     time   algbw   busbw #wrong"
_UNITS_OF_SIDE = "     (us)  (GB/s)  (GB/s)       "
_HEADER = (
    f"#\n#{'':<62}{'out-of-place':<35}{'in-place':<18}\n"
    f"#       size         count      type   redop    root{_SIDE}{_SIDE}\n"
    f"#        (B)    (elements)                          {_UNITS_OF_SIDE}{_UNITS_OF_SIDE}\n"
)


@dataclass(frozen=True, slots=True)
class _Rank:
    host: str
    pid: int
    device: int
    bus: str
    model: str
    rate: float
    cluster: str


def answer(node: Node, program: str, arguments: Sequence[str]) -> Answer:
    """The table, from the first rank; the others are silent."""
    options = _options(arguments)
    if options is None:
        return Answer(f"USAGE: {program} [-b minbytes] [-e maxbytes] [-f factor] [-g ngpus] [-n iters]\n", 1)
    size = _world_size()
    gpus = _gpus(node, options["g"])
    if gpus is None:
        return Answer(f"{node.name}: Test CUDA failure common.cu:1027 'invalid device ordinal'\n", 3)
    mine = [
        _Rank(node.name, os.getpid(), device, node.gpus[device].pci[:-2], node.gpus[device].model,
              bus_bandwidth(node.hardware, "nvlink"), node.hardware.nvlink_cluster or node.name)
        for device in gpus
    ]  # fmt: skip
    network = bus_bandwidth(node.hardware, "network")
    first, ranks, slowest = _gather(mine, network) if size > 1 else (True, mine, network)
    if not first:
        return Answer()
    if complaint := _missing_network(node, ranks):
        return Answer(
            f"{node.name}: {complaint}\n{node.name}: Test NCCL failure common.cu:1028 'invalid usage'\n", 3
        )
    # As NCCL does, whose ranks compare the domains of their GPUs: within one they need no network.
    joined = len({rank.cluster for rank in ranks}) == 1
    within = min(rank.rate for rank in ranks)
    rate = within if joined else min(slowest, within)
    if not rate:
        broken = "remote process exited or there was a network error / "
        return Answer(f"{node.name}: Test NCCL failure common.cu:1028 '{broken}'\n", 3)
    return Answer(_report(node, program, options, ranks, rate))


def _options(arguments: Sequence[str]) -> dict[str, int] | None:
    names = {
        "-b": "b", "--minbytes": "b", "-e": "e", "--maxbytes": "e", "-f": "f", "--stepfactor": "f", "-g": "g",
        "--ngpus": "g", "-n": "n", "--iters": "n", "-w": "w", "--warmup_iters": "w",
        "-c": "c", "--check": "c", "-t": "t", "--nthreads": "t",
    }  # fmt: skip
    found = {"b": 32 * 2**20, "e": 32 * 2**20, "f": 2, "g": 1, "n": 20, "w": 1, "c": 1, "t": 1}
    words = iter(arguments)
    for word in words:
        name, joined, value = word.partition("=")
        given = value if joined else next(words, "")
        if name not in names:
            return None
        try:
            found[names[name]] = int(float(given.rstrip("KMG")) * _UNITS.get(given[-1:], 1))
        except ValueError:
            return None
    return found


def _world_size() -> int:
    for name in ("OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "SLURM_NTASKS"):
        if os.environ.get(name, "").isdigit():
            return int(os.environ[name])
    return 1


def _gpus(node: Node, count: int) -> list[int] | None:
    """The devices of this process: from its local rank on, `count` of them."""
    names = ("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")
    local = next((os.environ[name] for name in names if name in os.environ), "0")
    usable = [number for number, gpu in enumerate(node.gpus) if gpu.state == "ok"]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    if visible and all(word.isdigit() for word in visible.split(",")):
        usable = [number for number in map(int, visible.split(",")) if number in usable]
    start = int(local) * count if len(usable) > count else 0
    chosen = usable[start : start + count]
    return chosen if len(chosen) == count else None


def _gather(mine: list[_Rank], network: float) -> tuple[bool, list[_Rank], float]:
    try:
        from mpi4py import MPI  # type: ignore[import-not-found,import-untyped,unused-ignore]  # where a node has it
    except ImportError:
        return True, mine, network
    gathered = MPI.COMM_WORLD.gather((mine, network), root=0)
    if gathered is None:
        return False, [], 0.0
    return True, [rank for ranks, _ in gathered for rank in ranks], min(rate for _, rate in gathered)


def _report(node: Node, program: str, options: dict[str, int], ranks: list[_Rank], rate: float) -> str:
    iterations = (
        f"warmup iters: {options['w']} iters: {options['n']} agg iters: 1 validation: {options['c']} graph: 0"
    )
    text = f"# nThread {options['t']} nGpus {options['g']} minBytes {options['b']} maxBytes {options['e']} "
    text += f"step: {options['f']}(factor) {iterations}\n#\n# Using devices\n"
    for number, rank in enumerate(ranks):
        process = f"Pid {rank.pid:>6} on {rank.host:>10} device {rank.device:>2} [{rank.bus}] {rank.model}"
        text += f"#  Rank {number:>2} Group  0 {process}\n"
    text += "# Simulated by clusterwright: a rehearsal, no measurement\n"
    text += _log(node, ranks) + _HEADER
    times, less = _FACTORS[program]
    factor = times * (len(ranks) - less) / len(ranks) or 1.0
    measured = []
    for size in _sizes(options):
        seconds = _LATENCY_US / 1e6 + size * factor / (rate * 1e9)
        algorithm = size / seconds / 1e9
        bus = algorithm * factor if len(ranks) > 1 else 0.0
        measured.append(bus)
        cells = f"{_time(seconds * 1e6):>8}{algorithm:>8.2f}{bus:>8.2f}{0:>7}"
        text += f"{size:>12}{size // 4:>14}{'float':>10}{'sum':>8}{-1:>8} {cells} {cells}\n"
    average = sum(measured) / len(measured) if measured else 0.0
    return f"{text}# Out of bounds values : 0 OK\n# Avg bus bandwidth    : {average:g} \n#\n\n"


def _missing_network(node: Node, ranks: list[_Rank]) -> str:
    """A network that is forced and not there is an error, as soon as ranks are on several nodes."""
    forced = os.environ.get("NCCL_NET", "")
    if not forced or len({rank.host for rank in ranks}) == 1:
        return ""
    why = podman.fabric_complaint(node) if forced == "FasTrak" else ""
    if not why and not _active(node):
        why = "NET : no card is active"
    return f"NCCL INFO {why}\n{node.name}: NCCL WARN Error: network {forced} not found." if why else ""


def _active(node: Node) -> list[SimulatedNic]:
    return [nic for nic in node.hardware.nics if nic.state == "active"]


def _log(node: Node, ranks: list[_Rank]) -> str:
    """What NCCL_DEBUG=INFO says of the network that was chosen; a forced one that is missing is an error."""
    if os.environ.get("NCCL_DEBUG", "").upper() not in ("INFO", "TRACE"):
        return ""
    active = _active(node)
    cards = " ".join(f"[{number}]{nic.name}:1/IB" for number, nic in enumerate(active))
    used, name = (
        (f"NET/IB : Using {cards} [RO]", "IB") if active else ("NET/Socket : Using [0]host0", "Socket")
    )
    if os.environ.get("NCCL_NET") in _PLUGINS:
        name = os.environ["NCCL_NET"]
        used = _PLUGINS[name]
    lead = f"{node.name}:{ranks[0].pid}:{ranks[0].pid} [0] NCCL INFO"
    return f"{lead} {used}\n{lead} Using network {name}\n"


def _sizes(options: dict[str, int]) -> list[int]:
    sizes, size = [], max(4, options["b"])
    while size <= options["e"]:
        sizes.append(size)
        size *= max(2, options["f"])
    return sizes


def _time(microseconds: float) -> str:
    return (
        f"{microseconds:.0f}"
        if microseconds >= 10000
        else f"{microseconds:.1f}"
        if microseconds >= 100
        else f"{microseconds:.2f}"
    )
