"""`list`, `firmware`, `bad-pages` and `process` of one GPU, and `version`."""

from __future__ import annotations

import zlib

from ..hardware import SimulatedGpu
from ..node import Node
from .options import Options, uuid_of
from .sheet import library_of, sheet_of
from .values import NOT_TOLD, Series, Tree

_NO_BAD_PAGE = "No bad pages found."
_NO_PROCESS = "No running processes detected"
_PAGE = 4096


def version(node: Node, options: Options) -> Tree:
    """The tool says that it is simulated; which versions of drivers it tells can be chosen."""
    told = {
        "tool": "AMDSMI Tool (simulated)",
        "version": library_of(node.installed),
        "amdsmi_library_version": library_of(node.installed),
        "rocm_version": node.installed or NOT_TOLD,
    }
    drivers = {
        "amdgpu_version": node.module("amdgpu") or NOT_TOLD,
        "amd_hsmp_driver_version": NOT_TOLD,
    }
    wanted = options.parts or drivers
    return told | {name: value for name, value in drivers.items() if name in wanted}


def version_text(told: Tree) -> str:
    """One line, as of no other command."""
    text = (
        f"AMDSMI Tool: {told['version']} (simulated) | "
        f"AMDSMI Library version: {told['amdsmi_library_version']} | ROCm version: {told['rocm_version']}"
    )
    for label, name in (("amdgpu", "amdgpu_version"), ("amd_hsmp", "amd_hsmp_driver_version")):
        text += f" | {label} version: {told[name]}" if name in told else ""
    return text + "\n"


def listed(gpu: SimulatedGpu, number: int, options: Options) -> Tree:
    names = ("gpu_bdf", "gpu_uuid") if options.form == "csv" else ("bdf", "uuid")
    told: dict[str, object] = {
        **dict(zip(names, (gpu.pci, uuid_of(gpu)), strict=True)),
        "kfd_id": kfd_id(gpu),
        "node_id": gpu.minor + 1,
        "partition_id": 0,
    }
    if "enumeration" in options.parts:
        told |= {
            "render": f"renderD{128 + gpu.minor}",
            "card": f"card{gpu.minor}",
            "hsa_id": gpu.minor + 1,
            "hip_id": number,
            "hip_uuid": gpu.uuid,
        }
    return told


def kfd_id(gpu: SimulatedGpu) -> int:
    return zlib.crc32(gpu.uuid.encode()) % 65536


def firmware(gpu: SimulatedGpu) -> Tree:
    pairs = (pair.split("=") for pair in sheet_of(gpu.model).words("firmware"))
    return {"fw_list": Series("FW {}", [{"fw_id": name, "fw_version": version} for name, version in pairs])}


def bad_pages(gpu: SimulatedGpu) -> Tree:
    """What of NVIDIA's memory is a row that is remapped is of AMD's a page that is retired."""
    counts = {
        "retired": (gpu.ecc.remapped_rows, "RESERVED"),
        "pending": (int(gpu.ecc.remap_pending), "PENDING"),
        "un_res": (int(gpu.ecc.remap_failed), "UNRESERVABLE"),
    }
    return {name: _pages(count, state) for name, (count, state) in counts.items()}


def _pages(count: int, state: str) -> object:
    """A record alone is no list, as of the real one (amdsmi_commands.py)."""
    pages: list[Tree] = [
        {"page_address": (number + 1) * _PAGE, "page_size": _PAGE, "status": state} for number in range(count)
    ]
    return _NO_BAD_PAGE if not pages else pages[0] if len(pages) == 1 else Series("", pages)


def process(options: Options) -> Tree:
    """Nothing runs on a simulated GPU. Text and CSV have no list around it."""
    told: Tree = {"process_info": _NO_PROCESS}
    return {"process_list": Series("", [told])} if options.form == "json" else told
