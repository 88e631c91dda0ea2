"""amd-smi without a command: every GPU in two lines of a table. Form: captured/amd-smi-table; 2026-11."""

from __future__ import annotations

from ..node import Node
from .metric import hotspot
from .sheet import library_of, sheet_of
from .values import NOT_TOLD, Quantity

_LEFT, _RIGHT = 37, 40
_RULE = f"+{'-' * _LEFT}+{'-' * _RIGHT}+\n"
_WIDE = f"+{'-' * (_LEFT + _RIGHT + 1)}+\n"


def summary(node: Node) -> str:
    versions = (
        f"AMD-SMI {library_of(node.installed)} (simulated)  amdgpu version: {node.module('amdgpu')} "
        f"ROCm version: {node.installed or NOT_TOLD}"
    )
    text = _WIDE + _line(versions) + _line("Platform: Linux Baremetal (simulated)")
    text += f"|{_RULE[1:-2]}|\n"
    text += _pair("BDF                        GPU-Name", "Mem-Uti   Temp   UEC       Power-Usage")
    text += _pair("GPU  HIP-ID  OAM-ID  Partition-Mode", "GFX-Uti    Fan               Mem-Usage")
    text += f"|{'=' * _LEFT}+{'=' * _RIGHT}|\n"
    for number, gpu in enumerate(node.gpus):
        power, limit = (_number(sheet_of(gpu.model)[name]) for name in ("power.idle", "limit.socket_power"))
        heat, errors = Quantity(hotspot(gpu), "C"), gpu.ecc.uncorrected
        text += _pair(
            f"{gpu.pci}{gpu.model[-22:]:>23}", f"0 %{heat!s:>11}   {errors:<8}{f'{power}/{limit} W':>13}"
        )
        text += _pair(
            f"{number:>3}{number:>8}{gpu.minor:>8}{'SPX/NPS1':>16}",
            f"0 %{NOT_TOLD:>11}{f'0/{gpu.memory_mib} MB':>24}",
        )
        text += _RULE
    text += _WIDE + _line("Processes:")
    text += _line(" GPU        PID  Process Name          GTT_MEM  VRAM_MEM  MEM_USAGE     CU %")
    return f"{text}|{'=' * (_LEFT + _RIGHT + 1)}|\n{_line(' No running processes found')}{_WIDE}"


def _line(text: str) -> str:
    return f"| {text:<{_LEFT + _RIGHT - 1}} |\n"


def _pair(left: str, right: str) -> str:
    return f"| {left:<{_LEFT - 2}} | {right:<{_RIGHT - 2}} |\n"


def _number(told: object) -> str:
    return f"{told.value}" if isinstance(told, Quantity) else str(told)
