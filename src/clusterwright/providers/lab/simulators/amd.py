"""rocm-smi and amd-smi of a node with AMD GPUs. Their JSON is what other software reads."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

from .hardware import SimulatedGpu
from .node import Answer, Node

_RULE = 126
_NO_DRIVER = "ERROR:root:Driver not initialized (amdgpu not found in modules)\n"
_MI300X = "0x74a1"
_NO_BAD_PAGE = "No bad pages found."
_VIOLATIONS = {
    "prochot": "hw_power_brake_slowdown",
    "ppt": "sw_power_cap",
    "socket_thermal": "hw_thermal_slowdown",
    "vr_thermal": "",
    "hbm_thermal": "",
}
"""What amd-smi names, after the state's own word for it."""
_TITLES = {"-i": "ID", "--showid": "ID", "--showproductname": "Product Info"}
_CONCISE = (
    "Device  Node  IDs              Temp        Power     Partitions          "
    "SCLK    MCLK    Fan  Perf  PwrCap  VRAM%  GPU%\n"
    "              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)\n"
)
_PARTS = {"--ecc": "ecc", "--temperature": "temperature", "--violation": "throttle"}


def rocm_smi(node: Node, arguments: Sequence[str]) -> Answer:
    """The concise table, or what is asked for, as text or JSON."""
    if node.module("amdgpu") is None:
        return Answer(_NO_DRIVER, 2)
    words = set(arguments)
    shown = {
        f"card{index}": {key: value for option, key, value in _card(node, gpu) if option in words}
        for index, gpu in enumerate(node.gpus)
    }
    asked = any(shown.values())
    title = "".join(f"{f' {name} ':=^{_RULE}}\n" for option, name in _TITLES.items() if option in words)
    if "--json" in words:
        return Answer(json.dumps(shown) + "\n" if asked else "{}\n")
    text = f"\n\n{'= ROCm System Management Interface =':=^{_RULE}}\n"
    if asked:
        text += title
        for index, facts in enumerate(shown.values()):
            text += "".join(f"GPU[{index}]\t\t: {key}: \t\t{value}\n" for key, value in facts.items())
    else:
        text += f"{' Concise Info ':=^{_RULE}}\n{_CONCISE}{'=' * _RULE}\n"
        text += "".join(_concise(index, gpu) for index, gpu in enumerate(node.gpus))
        text += f"{'=' * _RULE}\n"
    return Answer(
        f"{text}{' End of ROCm SMI Log ':=^{_RULE}}\nSimulated hardware of a clusterwright lab node.\n"
    )


def amd_smi(node: Node, arguments: Sequence[str]) -> Answer:
    """`version`, `list`, `static`, `metric`, `bad-pages`, `xgmi`, as text or with `--json`."""
    command = arguments[0] if arguments else ""
    loaded = node.module("amdgpu")
    if command == "version":
        tool = f"AMDSMI Tool: {node.installed or 'unknown'} (simulated) | ROCm version: {node.installed}"
        return Answer(f"{tool} | amdgpu version: {loaded or 'N/A'}\n")
    if loaded is None:
        return Answer("ERROR: AMDSMI_STATUS_DRIVER_NOT_LOADED | amdgpu is not loaded\n", 255)
    if command == "xgmi":
        return _xgmi(node.gpus, "--json" in arguments)
    rows = {"bad-pages": _bad_pages, "list": _listed, "metric": _measured, "static": _static}.get(command)
    if rows is None:
        return Answer(f"AMDSMI: '{command}' is not a command of the simulated amd-smi\n", 255)
    found = [{"gpu": index, **rows(gpu)} for index, gpu in enumerate(node.gpus)]
    asked = [key for option, key in _PARTS.items() if option in arguments]
    if command == "metric" and asked:
        found = [{"gpu": row["gpu"], **{key: row[key] for key in asked}} for row in found]
    if "--json" in arguments:
        return Answer(json.dumps(found, indent=4) + "\n")
    return Answer("".join(_lines(row) for row in found))


def _card(node: Node, gpu: SimulatedGpu) -> list[tuple[str, str, str]]:
    used = str(0)
    return [
        ("--showproductname", "Card Series", gpu.model),
        ("--showproductname", "Card Vendor", "Advanced Micro Devices, Inc. [AMD/ATI]"),
        *((option, name, value) for option in ("-i", "--showid") for name, value in _identity(gpu)),
        ("--showuniqueid", "Unique ID", gpu.uuid),
        ("--showbus", "PCI Bus", gpu.pci.upper()),
        ("--showtemp", "Temperature (Sensor junction) (C)", str(float(gpu.temperature_c or 40))),
        ("--showmeminfo", "VRAM Total Memory (B)", str(gpu.memory_mib * 2**20)),
        ("--showmeminfo", "VRAM Total Used Memory (B)", used),
        ("--showrasinfo", "UMC uncorrectable errors", str(gpu.ecc.uncorrected)),
        ("--showdriverversion", "Driver version", node.module("amdgpu") or ""),
    ]


def _identity(gpu: SimulatedGpu) -> tuple[tuple[str, str], ...]:
    number = _MI300X if "MI300X" in gpu.model else "N/A"
    return (
        ("Device Name", gpu.model),
        ("Device ID", number),
        ("Device Rev", "0x00"),
        ("Subsystem ID", number),
        ("GUID", str(_guid(gpu))),
    )


def _guid(gpu: SimulatedGpu) -> int:
    return zlib.crc32(gpu.uuid.encode()) % 65536


def _concise(index: int, gpu: SimulatedGpu) -> str:
    """At rest, as an MI300X of a public capture (ROCm/legacy-rocm-build issue 4750)."""
    identity = f"{_MI300X if 'MI300X' in gpu.model else 'N/A'},   {_guid(gpu)}"
    temperature = f"{float(gpu.temperature_c or 40)}°C"
    watts, limit = ("131.0W", "750.0W") if "MI300X" in gpu.model else ("N/A", "N/A")
    first = f"{index:<8}{index + 1:<6}{identity:<17}{temperature:<12}{watts:<10}{'NPS1, SPX, 0':<20}"
    return f"{first}{'132Mhz':<8}{'900Mhz':<8}{'0%':<5}{'auto':<6}{limit:<8}{'0%':<7}0%\n"


def _listed(gpu: SimulatedGpu) -> dict[str, object]:
    return {
        "bdf": gpu.pci,
        "uuid": gpu.uuid,
        "kfd_id": gpu.minor,
        "node_id": gpu.minor + 1,
        "partition_id": 0,
    }


def _static(gpu: SimulatedGpu) -> dict[str, object]:
    asic = {"market_name": gpu.model, "vendor_id": "0x1002", "asic_serial": f"SIMULATED{gpu.minor}"}
    return {"asic": asic, "vram": {"type": "HBM3", "size": {"value": gpu.memory_mib, "unit": "MB"}}}


def _measured(gpu: SimulatedGpu) -> dict[str, object]:
    ecc = {
        "total_correctable_count": gpu.ecc.corrected,
        "total_uncorrectable_count": gpu.ecc.uncorrected,
        "total_deferred_count": 0,
    }
    hotspot = {"value": gpu.temperature_c or 40, "unit": "C"}
    throttle = {
        f"{name}_violation_status": "ACTIVE" if why and why in gpu.throttle else "NOT ACTIVE"
        for name, why in _VIOLATIONS.items()
    }
    return {"ecc": ecc, "temperature": {"hotspot": hotspot}, "throttle": throttle}


def _bad_pages(gpu: SimulatedGpu) -> dict[str, object]:
    """What of NVIDIA's memory is a row that is remapped is of AMD's a page that is retired."""
    counts = {
        "retired": (gpu.ecc.remapped_rows, "RESERVED"),
        "pending": (int(gpu.ecc.remap_pending), "PENDING"),
        "un_res": (int(gpu.ecc.remap_failed), "UNRESERVABLE"),
    }
    return {name: _pages(count, state) for name, (count, state) in counts.items()}


def _pages(count: int, state: str) -> object:
    """A record alone is no list, as of the real one."""
    pages = [
        {"page_address": f"0x{(number + 1) << 12:x}", "page_size": "0x1000", "status": state}
        for number in range(count)
    ]
    return _NO_BAD_PAGE if not pages else pages[0] if len(pages) == 1 else pages


def _xgmi(gpus: Sequence[SimulatedGpu], as_json: bool) -> Answer:
    """`xgmi --link-status`: each GPU's link to each other, U, D or the GPU itself."""
    states = [[_link(gpus, mine, other) for other in range(len(gpus))] for mine in range(len(gpus))]
    if as_json:
        rows = [{"gpu": mine, "bdf": gpu.pci, "link_status": states[mine]} for mine, gpu in enumerate(gpus)]
        return Answer(json.dumps({"link_status": rows}, indent=4) + "\n")
    text = "\nXGMI LINK STATUS:\n" + " " * 7 + f"{'bdf':<14}"
    text += "".join(f"{f'GPU{number}':<14}" for number in range(len(gpus))).rstrip() + "\n"
    for mine, gpu in enumerate(gpus):
        row = "".join(f"{state:<14}" for state in states[mine]).rstrip()
        text += f"{f'GPU{mine}':<7}{gpu.pci:<14}{row}\n"
    return Answer(f"{text}\n\nLegend:\n  SELF = Current GPU\n  U / D / X = Link is Up / Down / Disabled\n")


def _link(gpus: Sequence[SimulatedGpu], mine: int, other: int) -> str:
    """A link is numbered by the GPU at its other end, so both ends of one are down."""
    if mine == other:
        return "SELF"
    down = gpus[other].minor in gpus[mine].links_down or gpus[mine].minor in gpus[other].links_down
    return "D" if down else "U"


def _lines(row: dict[str, object], indent: str = "") -> str:
    text = ""
    for key, value in row.items():
        if isinstance(value, dict):
            text += f"{indent}{key.upper()}:\n{_lines(value, indent + '    ')}"
        else:
            text += f"{indent}{key.upper()}: {value}\n"
    return text if indent else f"{text}\n"
