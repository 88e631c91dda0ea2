"""`partition`: how a GPU is cut, and how it could be. Simulated GPUs are whole.

Forms: tests/providers/simulators/captured/amd-smi-partition names the sources; 2026-11.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import count

from ..hardware import SimulatedGpu
from .sheet import sheet_of
from .values import NOT_TOLD, Tree

Numbered = Sequence[tuple[int, SimulatedGpu]]
_MODE, _MEMORY = "SPX", "NPS1"
_WIDTHS = {
    "gpu_id": 8,
    "memory": 8,
    "accelerator_type": 18,
    "accelerator_profile_index": 27,
    "partition_id": 17,
    "memory_partition_caps": 23,
    "current_memory_partition": 26,
    "profile_index": 15,
    "num_partitions": 16,
    "num_resources": 15,
    "resource_index": 16,
    "resource_type": 15,
    "resource_instances": 20,
    "resources_shared": 18,
}
_RESOURCE = ("resource_index", "resource_type", "resource_instances", "resources_shared")
_PROFILE = (
    "gpu_id", "profile_index", "memory_partition_caps", "accelerator_type", "partition_id", "num_partitions",
    "num_resources",
)  # fmt: skip
_TITLES = {
    "current_partition": "CURRENT_PARTITION",
    "memory_partition": "\nMEMORY_PARTITION",
    "partition_profiles": "\nACCELERATOR_PARTITION_PROFILES",
    "partition_resources": "\nACCELERATOR_PARTITION_RESOURCES",
}
_WARNING = f"""
{"*" * 75}
** WARNING:                                                              **
** ACCELERATOR_PARTITION_PROFILES requires sudo/root permissions to run. **
** Please run the command with sudo permissions to get accurate results. **
{"*" * 75}

"""


def partition(gpus: Numbered, parts: frozenset[str]) -> dict[str, list[Tree]]:
    """Table by table; that of resources comes with the profiles."""
    tables: dict[str, list[Tree]] = {
        "current_partition": [
            {
                "gpu_id": number,
                "memory": _MEMORY,
                "accelerator_type": _MODE,
                "accelerator_profile_index": 0,
                "partition_id": "0",
            }
            for number, _ in gpus
        ],
        "memory_partition": [
            {
                "gpu_id": number,
                "memory_partition_caps": _memory_modes(gpu),
                "current_memory_partition": _MEMORY,
            }
            for number, gpu in gpus
        ],
        "partition_profiles": [row for number, gpu in gpus for row in _profiles(number, gpu)],
        "partition_resources": [
            {name: row[name] for name in _RESOURCE} for number, gpu in gpus for row in _profiles(number, gpu)
        ],
    }
    wanted = {*parts, "partition_resources"} if "partition_profiles" in parts else parts
    return {name: rows for name, rows in tables.items() if name in wanted or not parts}


def partition_text(tables: dict[str, list[Tree]]) -> str:
    text = ""
    for name, rows in tables.items():
        text += f"{_TITLES[name]}:\n"
        if name == "partition_profiles" and os.geteuid() != 0:
            text += _WARNING
        text += _line({column: column.upper() for column in rows[0]}) if rows else ""
        text += "".join(_line(row) for row in rows)
    return text + ("\n\nLegend:\n  * = Current mode\n" if "partition_profiles" in tables else "")


def _line(row: Tree) -> str:
    return "".join(f"{cell!s:<{_WIDTHS[name]}}" for name, cell in row.items()).rstrip() + "\n"


def _memory_modes(gpu: SimulatedGpu) -> str:
    """Every mode that one of its profiles allows."""
    modes = [mode for profile in sheet_of(gpu.model).below("profile") for mode in profile[2].split(",")]
    return ",".join(dict.fromkeys(modes)) or NOT_TOLD


def _profiles(number: int, gpu: SimulatedGpu) -> list[Tree]:
    """A row a resource; what is of the GPU or the profile stands in the first one alone."""
    profiles = sheet_of(gpu.model).below("profile")
    if not profiles or os.geteuid() != 0:
        none: dict[str, object] = dict.fromkeys((*_PROFILE, *_RESOURCE), NOT_TOLD)
        return [none | {"partition_id": "0"} | ({"gpu_id": number} if not profiles else {})]
    rows: list[Tree] = []
    resource = count()
    for index, (mode, partitions, memory, *resources) in enumerate(profiles):
        current = mode == _MODE
        profile = (
            number if index == 0 else "", index, memory, f"{mode}*" if current else mode,
            "0" if current else NOT_TOLD, int(partitions), len(resources),
        )  # fmt: skip
        for place, each in enumerate(resources):
            kind, instances, shared = each.split(":")
            above = profile if place == 0 else ("",) * len(_PROFILE)
            mine = (next(resource), kind, int(instances), int(shared))
            rows.append(dict(zip((*_PROFILE, *_RESOURCE), (*above, *mine), strict=True)))
    return rows
