"""`metric`: what a GPU does now, part by part. Names and order: tests/…/captured/amd-smi-metric.

Nothing runs on a simulated GPU: it is at rest, and only its faults change what is told.
"""

from __future__ import annotations

from ..facts import model_named
from ..hardware import SimulatedGpu
from .sheet import Sheet, sheet_of
from .values import NOT_TOLD, Quantity, Tree

_VIOLATIONS = {
    "prochot": "hw_power_brake_slowdown",
    "ppt": "sw_power_cap",
    "socket_thermal": "hw_thermal_slowdown",
    "vr_thermal": "",
    "hbm_thermal": "",
}
"""What amd-smi names, after the state's own word for it."""
_LIMITED = (
    "gfx_clk_below_host_limit",
    "gfx_clk_below_host_limit_power",
    "gfx_clk_below_host_limit_thermal",
    "total_gfx_clk_below_host_limit",
    "low_utilization",
)
"""Which an MI300X does not tell."""
_COUNTED = ("UMC", "SDMA", "GFX", "MMHUB", "PCIE_BIF", "HDP", "XGMI_WAFL")
"""The blocks whose errors the kernel counts."""
_GFX, _JPEG, _JPEG_OF_PARTITION, _VCN = 8, 32, 40, 4
"""How many of each kind amd-smi has room for."""
_SAMPLES = 1000
"""Since the driver was loaded, as if a violation had been there from the first."""


def metric(gpu: SimulatedGpu) -> Tree:
    sheet = sheet_of(gpu.model)
    return {
        "usage": _usage(sheet),
        "power": {
            "socket_power": sheet["power.idle"],
            "gfx_voltage": NOT_TOLD,
            "soc_voltage": NOT_TOLD,
            "mem_voltage": NOT_TOLD,
            "throttle_status": "THROTTLED" if gpu.throttle else "UNTHROTTLED",
            "power_management": "ENABLED",
        },
        "clock": _clocks(sheet),
        "temperature": {
            "edge": NOT_TOLD,
            "hotspot": Quantity(hotspot(gpu), "C"),
            "mem": sheet["temperature.mem"],
        },
        "pcie": _pcie(gpu, sheet),
        "ecc": _ecc(gpu),
        "ecc_blocks": _blocks(gpu, sheet),
        "fan": dict.fromkeys(("speed", "max", "rpm", "usage"), NOT_TOLD),
        "voltage_curve": {
            f"point_{number}_{what}": NOT_TOLD for number in range(3) for what in ("frequency", "voltage")
        },
        "overdrive": Quantity(0, "%"),
        "mem_overdrive": Quantity(0, "%"),
        "perf_level": "AMDSMI_DEV_PERF_LEVEL_AUTO",
        "xgmi_err": NOT_TOLD,
        "voltage": {"vddboard": NOT_TOLD},
        "energy": {"total_energy_consumption": NOT_TOLD},
        "mem_usage": _memory(gpu),
        "throttle": _throttle(gpu),
    }


def hotspot(gpu: SimulatedGpu) -> int:
    return gpu.temperature_c or model_named(gpu.model).idle_c


def _usage(sheet: Sheet) -> Tree:
    return {
        "gfx_activity": Quantity(0, "%"),
        "umc_activity": Quantity(0, "%"),
        "mm_activity": NOT_TOLD,
        "vcn_activity": [NOT_TOLD] * _VCN,
        "jpeg_activity": [NOT_TOLD] * _JPEG,
        "gfx_busy_inst": {"xcp_0": _idle(sheet.count("engines.gfx"), _GFX)},
        "jpeg_busy": {"xcp_0": _idle(sheet.count("engines.jpeg"), _JPEG_OF_PARTITION)},
        "vcn_busy": {"xcp_0": _idle(sheet.count("engines.vcn"), _VCN)},
    }


def _idle(there: int, room: int) -> list[object]:
    return [Quantity(0, "%")] * there + [NOT_TOLD] * (room - there)


def _clocks(sheet: Sheet) -> Tree:
    gfx, memory = (_clock(sheet.words(f"clock.{name}"), name == "gfx") for name in ("gfx", "mem"))
    none = _clock([], False)
    engines = sheet.count("engines.gfx")
    return {
        **{f"gfx_{number}": gfx if number < engines else none for number in range(_GFX)},
        "mem_0": memory,
        **{f"{name}_{number}": none for name in ("vclk", "dclk") for number in range(_VCN)},
        "fclk_0": none,
        "socclk_0": none,
    }


def _clock(known: list[str], locks: bool) -> Tree:
    """A clock below its least one is asleep."""
    if not known:
        return dict.fromkeys(("clk", "min_clk", "max_clk", "clk_locked", "deep_sleep"), NOT_TOLD)
    now, least, most = (int(part) for part in known)
    return {
        "clk": Quantity(now, "MHz"),
        "min_clk": Quantity(least, "MHz"),
        "max_clk": Quantity(most, "MHz"),
        "clk_locked": "DISABLED" if locks else NOT_TOLD,
        "deep_sleep": "ENABLED" if now < least else "DISABLED",
    }


def _pcie(gpu: SimulatedGpu, sheet: Sheet) -> Tree:
    counts = ("replay_count", "l0_to_recovery_count", "replay_roll_over_count", "nak_sent_count")
    return {
        "width": gpu.pci_lanes,
        "speed": sheet["bus.max_pcie_speed"],
        "bandwidth": Quantity(0, "Mb/s"),
        **dict.fromkeys((*counts, "nak_received_count"), 0),
        "current_bandwidth_sent": NOT_TOLD,
        "current_bandwidth_received": NOT_TOLD,
        "max_packet_size": NOT_TOLD,
        "lc_perf_other_end_recovery": 0,
    }


def _ecc(gpu: SimulatedGpu) -> Tree:
    """All of a simulated GPU's errors are of its memory, so none is of a cache."""
    return {
        "total_correctable_count": gpu.ecc.corrected,
        "total_uncorrectable_count": gpu.ecc.uncorrected,
        "total_deferred_count": 0,
        "cache_correctable_count": 0,
        "cache_uncorrectable_count": 0,
    }


def _blocks(gpu: SimulatedGpu, sheet: Sheet) -> object:
    names = [name for name in sheet.words("ras.blocks") if name in _COUNTED]
    memory = {"correctable_count": gpu.ecc.corrected, "uncorrectable_count": gpu.ecc.uncorrected}
    none = dict.fromkeys(memory, 0)
    return {name: {**(memory if name == "UMC" else none), "deferred_count": 0} for name in names} or NOT_TOLD


def _memory(gpu: SimulatedGpu) -> Tree:
    kinds: dict[str, tuple[object, object]] = {
        "vram": (Quantity(gpu.memory_mib, "MB"), Quantity(0, "MB")),
        "visible_vram": (Quantity(gpu.memory_mib, "MB"), Quantity(0, "MB")),
        "gtt": (NOT_TOLD, NOT_TOLD),
    }
    return {
        f"{what}_{kind}": used if what == "used" else total
        for kind, (total, used) in kinds.items()
        for what in ("total", "used", "free")
    }


def _throttle(gpu: SimulatedGpu) -> Tree:
    active = {name: bool(why) and why in gpu.throttle for name, why in _VIOLATIONS.items()}
    return {
        "accumulation_counter": _SAMPLES,
        **{f"{name}_accumulated": _SAMPLES if on else 0 for name, on in active.items()},
        **{f"{name}_accumulated": NOT_TOLD for name in _LIMITED},
        **{f"{name}_violation_status": "ACTIVE" if on else "NOT ACTIVE" for name, on in active.items()},
        **{f"{name}_violation_status": NOT_TOLD for name in _LIMITED},
        **{f"{name}_violation_activity": Quantity(100 if on else 0, "%") for name, on in active.items()},
        **{f"{name}_violation_activity": NOT_TOLD for name in _LIMITED},
    }
