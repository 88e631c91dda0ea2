"""`static`: what a GPU is, part by part. Names and order: tests/…/captured/amd-smi-static."""

from __future__ import annotations

from collections.abc import Sequence

from ..hardware import SimulatedGpu
from ..node import Node
from .sheet import Sheet, before, sheet_of
from .values import NOT_TOLD, Quantity, Series, Tree

_ASIC = ("rev_id", "asic_serial", "oam_id", "num_compute_units", "target_graphics_version")
_IMAGE = ("name", "build_date", "part_number", "version")
_LIMITS = (
    "max_power",
    "min_power",
    "socket_power",
    "slowdown_edge_temperature",
    "slowdown_hotspot_temperature",
    "slowdown_vram_temperature",
    "shutdown_edge_temperature",
    "shutdown_hotspot_temperature",
    "shutdown_vram_temperature",
)
_BLOCKS = (
    "UMC", "SDMA", "GFX", "MMHUB", "ATHUB", "PCIE_BIF", "HDP", "XGMI_WAFL", "DF", "SMN", "SEM", "MP0", "MP1",
    "FUSE", "MCA", "VCN", "JPEG", "IH", "MPIO",
)  # fmt: skip
_CLOCKS = ("sys", "mem", "df", "soc", "dcef", "vclk0", "vclk1", "dclk0", "dclk1")
_WORD = 64


def static(node: Node, gpu: SimulatedGpu, clocks: str = "") -> Tree:
    """All parts; of the clocks those that are named, or all."""
    sheet = sheet_of(gpu.model)
    return {
        "asic": {
            "market_name": gpu.model,
            "vendor_id": "0x1002",
            "vendor_name": "Advanced Micro Devices Inc. [AMD/ATI]",
            "subvendor_id": "0x1002",
            "device_id": sheet["asic.device_id"],
            "subsystem_id": sheet["asic.subsystem_id"],
            **{name: sheet[f"asic.{name}"] for name in _ASIC},
            "asic_serial": f"SIMULATED{gpu.minor}",
            "oam_id": gpu.minor,
        },
        "bus": {
            "bdf": gpu.pci,
            **{
                name: sheet[f"bus.{name}"]
                for name in ("max_pcie_width", "max_pcie_speed", "pcie_interface_version", "slot_type")
            },
        },
        "vbios" if before(node.installed, "7.1") else "ifwi": dict.fromkeys(_IMAGE, NOT_TOLD),
        "limit": {name: sheet[f"limit.{name}"] for name in _LIMITS},
        "driver": {"name": "amdgpu", "version": node.module("amdgpu") or NOT_TOLD},
        "board": {
            "model_number": sheet["board.model_number"],
            "product_serial": f"SIMULATED{gpu.minor}",
            **{name: sheet[f"board.{name}"] for name in ("fru_id", "product_name", "manufacturer_name")},
        },
        "ras": _ras(sheet),
        "partition": {"compute_partition": "SPX", "memory_partition": "NPS1", "partition_id": 0},
        "soc_pstate": NOT_TOLD,
        "xgmi_plpd": NOT_TOLD,
        "process_isolation": "Disabled",
        "numa": {
            "node": gpu.numa,
            "affinity": gpu.numa,
            "cpu_affinity": _affinity(gpu, node),
            "socket_affinity": {"socket_0": gpu.numa},
        },
        "vram": {
            "type": sheet["vram.type"],
            "vendor": NOT_TOLD,
            "size": Quantity(gpu.memory_mib, "MB"),
            "bit_width": sheet["vram.bit_width"],
            "max_bandwidth": sheet["vram.max_bandwidth"],
        },
        "cache_info": Series("CACHE_{}", [_cache(parts) for parts in sheet.below("cache")], "cache"),
        "clock": {name: _levels(sheet, name) for name in _CLOCKS if name in _named(clocks)},
    }


def _ras(sheet: Sheet) -> Tree:
    enabled = sheet.words("ras.blocks")
    return {
        "eeprom_version": NOT_TOLD,
        "bad_page_threshold": NOT_TOLD,
        "parity_schema": "DISABLED",
        "single_bit_schema": "DISABLED",
        "double_bit_schema": "DISABLED",
        "poison_schema": "ENABLED",
        "ecc_block_state": {name: "ENABLED" if name in enabled else "DISABLED" for name in _BLOCKS},
    }


def _cache(parts: list[str]) -> Tree:
    *properties, size, level, shared, instances = parts
    return {
        "cache_properties": tuple(properties),
        "cache_size": Quantity(int(size), "KB"),
        "cache_level": int(level),
        "max_num_cu_shared": int(shared),
        "num_cache_instance": int(instances),
    }


def _named(clocks: str) -> Sequence[str]:
    named = clocks.lower().split()
    return named if named and "all" not in named else _CLOCKS


def _levels(sheet: Sheet, name: str) -> object:
    """The clock at rest stands between the least and the highest, or is the least."""
    known = sheet.words(f"clock.{'gfx' if name == 'sys' else name}")
    if not known:
        return NOT_TOLD
    now, least, most = (int(part) for part in known)
    levels = [least, most] if now == least else [least, now, most]
    return {
        "current level": levels.index(now),
        "frequency_levels": {f"Level {level}": f"{mhz} MHz" for level, mhz in enumerate(levels)},
    }


def _affinity(gpu: SimulatedGpu, node: Node) -> object:
    """The CPUs beside a GPU, in as many words of 64 as the node's CPUs take."""
    last = max((cpu for each in node.gpus for cpu in _cpus(each.cpu_list)), default=-1)
    cpus = _cpus(gpu.cpu_list)
    if not cpus:
        return NOT_TOLD
    words = [[cpu for cpu in cpus if start <= cpu < start + _WORD] for start in range(0, last + 1, _WORD)]
    return {
        f"cpu_list_{number}": {
            "bitmask": f"{sum(1 << cpu % _WORD for cpu in word):016X}",
            "cpu_cores_affinity": _ranges(word) or NOT_TOLD,
        }
        for number, word in enumerate(words)
    }


def _cpus(cpu_list: str) -> list[int]:
    found: list[int] = []
    for part in filter(None, cpu_list.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _ranges(cpus: list[int]) -> str:
    text, start = [], 0
    for place, cpu in enumerate(cpus):
        if place + 1 == len(cpus) or cpus[place + 1] != cpu + 1:
            first = cpus[start]
            text.append(str(cpu) if first == cpu else f"{first}-{cpu}")
            start = place + 1
    return ",".join(text)
