"""`nvidia-smi topo -m` and `nvidia-smi nvlink`: how the GPUs and the cards of a node are joined."""

from __future__ import annotations

from collections.abc import Sequence

from ..hardware import SimulatedGpu, SimulatedNic
from ..node import Answer, Node
from ..rdma import devices
from ..reading import Reading

_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""


def topology(node: Node, readings: list[Reading], arguments: Sequence[str]) -> Answer:
    """`topo -m`: a matrix of GPUs and cards. Cards stand beside the GPUs of their NUMA node, one each."""
    if "-m" not in arguments and "--matrix" not in arguments:
        return Answer(
            "Invalid combination of input arguments. Please run 'nvidia-smi topo -h' for help.\n", 2
        )
    named = devices(node.hardware)
    cards = [card for _, card in named]
    heads = [f"GPU{node.gpus.index(reading.gpu)}" for reading in readings]
    names = [f"NIC{number}" for number in range(len(cards))]
    columns = [*heads, *names, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]
    lines = ["\t" + "\t".join(columns)]
    for head, reading in zip(heads, readings, strict=True):
        cells = [" X " if other is reading else _between(reading, other) for other in readings]
        cells += [_beside(node, reading.gpu, card, place) for place, card in enumerate(cards)]
        lines.append(
            "\t".join([head, *cells, reading.gpu.cpu_list or "N/A", str(reading.gpu.numa), "", "N/A"])
        )
    for place, (name, card) in enumerate(zip(names, cards, strict=True)):
        cells = [_beside(node, reading.gpu, card, place) for reading in readings]
        cells += [" X " if other is card else "NODE" if other.numa == card.numa else "SYS" for other in cards]
        lines.append("\t".join([name, *cells, *[""] * 4]))
    text = "".join(f"{line}\n" for line in lines) + _LEGEND
    if cards:
        text += "\nNIC Legend:\n\n"
        text += "".join(f"  {name}: {device}\n" for name, (device, _) in zip(names, named, strict=True))
    return Answer(f"{text}\n")


def nvlink(node: Node, readings: list[Reading], arguments: Sequence[str]) -> Answer:
    """`nvlink -s`: each link's speed, or `<inactive>` where it has no signal; `-e`: its error counters."""
    if {"-s", "--status"} & set(arguments):
        return Answer("".join(_status(node, reading) for reading in readings))
    if {"-e", "--errorcounters"} & set(arguments):
        return Answer("".join(_error_counters(node, reading) for reading in readings))
    return Answer("Invalid combination of input arguments. Please run 'nvidia-smi nvlink -h' for help.\n", 2)


def _title(node: Node, reading: Reading) -> str:
    return f"GPU {node.gpus.index(reading.gpu)}: {reading.gpu.model} (UUID: {reading.gpu.uuid})\n"


def _status(node: Node, reading: Reading) -> str:
    if reading.mig_mode:
        return f"{_title(node, reading)}Nvlink queries are not supported for Devices in MIG mode\n"

    def speed(link: int) -> str:
        return "<inactive>" if link in reading.gpu.links_down else f"{reading.model.link_gbps} GB/s"

    links = "".join(f"\t Link {link}: {speed(link)}\n" for link in range(reading.model.links))
    return _title(node, reading) + links


def _error_counters(node: Node, reading: Reading) -> str:
    names = ("Replay Errors", "Recovery Errors", "CRC Errors")
    text = _title(node, reading)
    for link in range(reading.model.links):
        errors = 1 if link in reading.gpu.links_down else 0
        text += "".join(f"\t Link {link}: {name}: {errors}\n" for name in names)
    return text


def _between(one: Reading, other: Reading) -> str:
    links = one.model.links - max(len(one.gpu.links_down), len(other.gpu.links_down))
    if one.model.links:
        return f"NV{links}"
    return "NODE" if one.gpu.numa == other.gpu.numa else "SYS"


def _beside(node: Node, gpu: SimulatedGpu, card: SimulatedNic, place: int) -> str:
    """The n-th card hangs on the switch of the n-th GPU when there is one for each."""
    cards = max(1, len(node.hardware.nics))
    if place * len(node.gpus) // cards == node.gpus.index(gpu):
        return "PIX" if cards <= len(node.gpus) else "PXB"
    return "NODE" if gpu.numa == card.numa else "SYS"
