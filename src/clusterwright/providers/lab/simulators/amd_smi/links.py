"""`topology` and `xgmi`: the links of the GPUs of one node to each other.

Forms: tests/providers/simulators/captured/amd-smi-topology and amd-smi-xgmi name the sources; 2026-11.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..hardware import SimulatedGpu
from .sheet import sheet_of
from .values import NOT_TOLD, Quantity, Tree

Numbered = Sequence[tuple[int, SimulatedGpu]]
_TABLES = {
    "link_status": "ACCESS TABLE",
    "weight": "WEIGHT TABLE",
    "num_hops": "HOPS TABLE",
    "link_type": "LINK TYPE TABLE",
    "bandwidth": "NUMA BW TABLE",
    "coherent": "CACHE COHERANCY TABLE",
    "atomics": "ATOMICS TABLE",
    "dma": "DMA TABLE",
    "bi_dir": "BI-DIRECTIONAL TABLE",
}
"""What is told of a link, and the table of it; the third title is spelled as amd-smi spells it."""
_IN_JSON = (
    "weight", "link_status", "link_type", "num_hops", "bandwidth", "coherent", "atomics", "dma", "bi_dir",
)  # fmt: skip
_IN_CSV = {
    "link_status": "link_accessibility",
    "num_hops": "hops",
    "bandwidth": "numa_bandwidth",
    "bi_dir": "bi_directional",
}
_LEGEND = """

Legend:
  SELF = Current GPU
  ENABLED / DISABLED = Link is enabled or disabled
  N/A = Not supported
  T/F = True / False
  C/NC = Coherant / Non-Coherant io links
  64,32 = 64 bit and 32 bit atomic support
  <BW from>-<BW to>
"""
_XGMI_LEGEND = "\n\nLegend:\n  SELF = Current GPU\n  U / D / X = Link is Up / Down / Disabled\n"


def _link(mine: SimulatedGpu, other: SimulatedGpu) -> dict[str, object]:
    if mine is other:
        same = dict.fromkeys(("coherent", "atomics", "dma", "bi_dir"), "SELF")
        return {"weight": 0, "link_status": "ENABLED", "link_type": "SELF", "num_hops": 0,
                "bandwidth": NOT_TOLD, **same}  # fmt: skip
    sheet = sheet_of(mine.model)
    return {
        "weight": sheet["topology.weight"],
        "link_status": "ENABLED",
        "link_type": "XGMI",
        "num_hops": 1,
        "bandwidth": sheet["topology.bandwidth"],
        "coherent": "C",
        "atomics": "64,32",
        "dma": "T",
        "bi_dir": "T",
    }


def topology(gpus: Numbered, parts: frozenset[str]) -> list[Tree]:
    """What JSON has: of each GPU, its links."""
    return [
        {
            "gpu": number,
            "bdf": gpu.pci,
            "links": [
                {
                    "gpu": other,
                    "bdf": peer.pci,
                    **{name: _link(gpu, peer)[name] for name in _asked(_IN_JSON, parts)},
                }
                for other, peer in gpus
            ],
        }
        for number, gpu in gpus
    ]


def topology_rows(gpus: Numbered, parts: frozenset[str]) -> list[Tree]:
    """What CSV has: a column for each link of each kind."""
    return [
        {
            "gpu": number,
            "bdf": gpu.pci,
            **{
                f"{_IN_CSV.get(name, name)}_gpu_{other}": _link(gpu, peer)[name]
                for name in _asked(tuple(_TABLES), parts)
                for other, peer in gpus
            },
        }
        for number, gpu in gpus
    ]


def topology_text(gpus: Numbered, parts: frozenset[str]) -> str:
    head = " " * 13 + _row([gpu.pci for _, gpu in gpus], 13)
    tables = []
    for name in _asked(tuple(_TABLES), parts):
        rows = "".join(
            f"{gpu.pci:<13}{_row([str(_link(gpu, peer)[name]) for _, peer in gpus], 13)}" for _, gpu in gpus
        )
        tables.append(f"{_TABLES[name]}:\n{head}{rows}")
    return "".join(tables) + _LEGEND


def xgmi_metric(gpus: Numbered) -> list[Tree]:
    """Nothing was carried over a simulated link."""
    return [
        {
            "gpu": number,
            "bdf": gpu.pci,
            "link_metrics": {
                "bit_rate": sheet_of(gpu.model)["xgmi.bit_rate"],
                "max_bandwidth": sheet_of(gpu.model)["xgmi.max_bandwidth"],
                "link_type": "XGMI",
                "links": [
                    {"gpu": other, "bdf": peer.pci, **dict.fromkeys(("read", "write"), _carried(gpu, peer))}
                    for other, peer in gpus
                ],
            },
        }
        for number, gpu in gpus
    ]


def xgmi_metric_text(gpus: Numbered) -> str:
    text = f"\nLINK METRIC TABLE:\n{'':<7}{'bdf':<14}{'bit_rate':<10}{'max_bandwidth':<15}{'link_type':<11}"
    text += _row([f"GPU{number}" for number, _ in gpus], 13)
    for number, gpu in gpus:
        sheet = sheet_of(gpu.model)
        rate, bandwidth = str(sheet["xgmi.bit_rate"]), str(sheet["xgmi.max_bandwidth"])
        text += f"{f'GPU{number}':<7}{gpu.pci:<14}{rate:<10}{bandwidth:<15}XGMI\n"
        carried = [str(_carried(gpu, peer)) for _, peer in gpus]
        text += "".join(f"{f' {way}':<57}{_row(carried, 13)}" for way in ("Read", "Write"))
    return text


def xgmi_status(gpus: Numbered) -> list[Tree]:
    return [
        {"gpu": number, "bdf": gpu.pci, "link_status": [_state(gpu, peer) for _, peer in gpus]}
        for number, gpu in gpus
    ]


def xgmi_status_text(gpus: Numbered) -> str:
    text = f"\nXGMI LINK STATUS:\n{'':<7}{'bdf':<14}{_row([f'GPU{number}' for number, _ in gpus], 14)}"
    for number, gpu in gpus:
        text += f"{f'GPU{number}':<7}{gpu.pci:<14}{_row([_state(gpu, peer) for _, peer in gpus], 14)}"
    return text + _XGMI_LEGEND


def _state(mine: SimulatedGpu, other: SimulatedGpu) -> str:
    """A link is numbered by the GPU at its other end, so both ends of one are down."""
    if mine is other:
        return "SELF"
    down = other.minor in mine.links_down or mine.minor in other.links_down
    return "D" if down else "U"


def _carried(mine: SimulatedGpu, other: SimulatedGpu) -> object:
    return NOT_TOLD if mine is other else Quantity(0, "KB")


def _row(cells: Sequence[str], width: int) -> str:
    return "".join(f"{cell:<{width}}" for cell in cells).rstrip() + "\n"


def _asked(order: Sequence[str], parts: frozenset[str]) -> list[str]:
    return [name for name in order if name in parts or not parts]
