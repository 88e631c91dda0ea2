"""rocm-smi and amd-smi of a node with AMD GPUs. Their JSON is what other software reads."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .hardware import SimulatedGpu
from .node import Answer, Node

_RULE = 88
_NO_DRIVER = "ERROR:root:Driver not initialized (amdgpu not found in modules)\n"
_MI300X = "0x74a1"


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
    if "--json" in words:
        return Answer(json.dumps(shown) + "\n" if asked else "{}\n")
    text = f"\n\n{'= ROCm System Management Interface =':=^{_RULE}}\n"
    if asked:
        for index, facts in enumerate(shown.values()):
            text += "".join(f"GPU[{index}]\t\t: {key}: \t\t{value}\n" for key, value in facts.items())
    else:
        text += f"{' Concise Info ':=^{_RULE}}\n"
        text += "Device  Node  Temp      Power   VRAM%  GPU%\n"
        text += "".join(
            f"{index:<8}{index + 1:<6}{_temperature(gpu):<10}{'N/A':<8}{'0%':<7}0%\n"
            for index, gpu in enumerate(node.gpus)
        )
    return Answer(
        f"{text}{' End of ROCm SMI Log ':=^{_RULE}}\nSimulated hardware of a clusterwright lab node.\n"
    )


def amd_smi(node: Node, arguments: Sequence[str]) -> Answer:
    """`version`, `list`, `static`, `metric`, as text or with `--json`."""
    command = arguments[0] if arguments else ""
    loaded = node.module("amdgpu")
    if command == "version":
        tool = f"AMDSMI Tool: {node.installed or 'unknown'} (simulated) | ROCm version: {node.installed}"
        return Answer(f"{tool} | amdgpu version: {loaded or 'N/A'}\n")
    if loaded is None:
        return Answer("ERROR: AMDSMI_STATUS_DRIVER_NOT_LOADED | amdgpu is not loaded\n", 255)
    rows = {"list": _listed, "metric": _measured, "static": _static}.get(command)
    if rows is None:
        return Answer(f"AMDSMI: '{command}' is not a command of the simulated amd-smi\n", 255)
    found = [{"gpu": index, **rows(gpu)} for index, gpu in enumerate(node.gpus)]
    if command == "metric" and "--ecc" in arguments:
        found = [{"gpu": row["gpu"], "ecc": row["ecc"]} for row in found]
    if "--json" in arguments:
        return Answer(json.dumps(found, indent=4) + "\n")
    return Answer("".join(_lines(row) for row in found))


def _card(node: Node, gpu: SimulatedGpu) -> list[tuple[str, str, str]]:
    used = str(0)
    return [
        ("--showproductname", "Card Series", gpu.model),
        ("--showproductname", "Card Vendor", "Advanced Micro Devices, Inc. [AMD/ATI]"),
        ("--showid", "Device ID", _MI300X if "MI300X" in gpu.model else "N/A"),
        ("--showuniqueid", "Unique ID", gpu.uuid),
        ("--showbus", "PCI Bus", gpu.pci.upper()),
        ("--showtemp", "Temperature (Sensor junction) (C)", str(float(gpu.temperature_c or 40))),
        ("--showmeminfo", "VRAM Total Memory (B)", str(gpu.memory_mib * 2**20)),
        ("--showmeminfo", "VRAM Total Used Memory (B)", used),
        ("--showrasinfo", "UMC uncorrectable errors", str(gpu.ecc.uncorrected)),
        ("--showdriverversion", "Driver version", node.module("amdgpu") or ""),
    ]


def _temperature(gpu: SimulatedGpu) -> str:
    return f"{float(gpu.temperature_c or 40)}°C"


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
    return {"ecc": ecc, "temperature": {"hotspot": hotspot}, "throttle": list(gpu.throttle)}


def _lines(row: dict[str, object], indent: str = "") -> str:
    text = ""
    for key, value in row.items():
        if isinstance(value, dict):
            text += f"{indent}{key.upper()}:\n{_lines(value, indent + '    ')}"
        else:
            text += f"{indent}{key.upper()}: {value}\n"
    return text if indent else f"{text}\n"
