"""rocm-smi of a node with AMD GPUs. Its JSON is what other software reads."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .amd_smi.devices import kfd_id
from .hardware import SimulatedGpu
from .node import Answer, Node

_RULE = 126
_NO_DRIVER = "ERROR:root:Driver not initialized (amdgpu not found in modules)\n"
_MI300X = "0x74a1"
_TITLES = {"-i": "ID", "--showid": "ID", "--showproductname": "Product Info"}
_CONCISE = (
    "Device  Node  IDs              Temp        Power     Partitions          "
    "SCLK    MCLK    Fan  Perf  PwrCap  VRAM%  GPU%\n"
    "              (DID,     GUID)  (Junction)  (Socket)  (Mem, Compute, ID)\n"
)


def answer(node: Node, arguments: Sequence[str]) -> Answer:
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
        ("GUID", str(kfd_id(gpu))),
    )


def _concise(index: int, gpu: SimulatedGpu) -> str:
    """At rest, as an MI300X of a public capture (ROCm/legacy-rocm-build issue 4750)."""
    identity = f"{_MI300X if 'MI300X' in gpu.model else 'N/A'},   {kfd_id(gpu)}"
    temperature = f"{float(gpu.temperature_c or 40)}°C"
    watts, limit = ("131.0W", "750.0W") if "MI300X" in gpu.model else ("N/A", "N/A")
    first = f"{index:<8}{index + 1:<6}{identity:<17}{temperature:<12}{watts:<10}{'NPS1, SPX, 0':<20}"
    return f"{first}{'132Mhz':<8}{'900Mhz':<8}{'0%':<5}{'auto':<6}{limit:<8}{'0%':<7}0%\n"
