"""`nvidia-smi --query-…`: comma-separated values of named fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..facts import cuda_of
from ..node import Answer, Node
from ..reading import REASONS, Reading
from .options import Options

NOT_AVAILABLE = "[N/A]"
DEPRECATED = "[Requested functionality has been deprecated]"
Value = Callable[[Node, Reading], object]
_ACTIVE = {True: "Active", False: "Not Active"}
_ENABLED = {True: "Enabled", False: "Disabled"}
_YES = {True: "Yes", False: "No"}


def answer(node: Node, readings: list[Reading], options: Options) -> Answer:
    """The table that was asked for."""
    known = _TABLES[options.query]
    for name in options.fields:
        if name not in known:
            return Answer(f'Field "{name}" is not a valid field to query.\n\n', 2)
    titles = [_title(name, known) for name in options.fields]
    lines = [] if "noheader" in options.format else [", ".join(titles)]
    for reading in _subjects(options.query, readings):
        cells = [_cell(node, reading, known[name], "nounits" in options.format) for name in options.fields]
        lines.append(", ".join(cells))
    return Answer("".join(f"{line}\n" for line in lines))


def _subjects(table: str, readings: list[Reading]) -> list[Reading]:
    """No process uses a simulated GPU, so nothing is listed of processes; pages retire before Ampere only."""
    return readings if table in ("gpu", "remapped-rows") else []


def _title(name: str, known: dict[str, tuple[Value, str]]) -> str:
    unit = known[name][1]
    return f"{name} [{unit}]" if unit else name


def _cell(node: Node, reading: Reading, field: tuple[Value, str], bare: bool) -> str:
    value, unit = field
    found = value(node, reading)
    if found is None:
        return NOT_AVAILABLE
    text = f"{found:.2f}" if isinstance(found, float) else str(found)
    return text if bare or not unit or text.startswith("[") else f"{text} {unit}"


def _told(value: object) -> Value:
    return lambda _node, _reading: value


def _of(value: Callable[[Reading], object]) -> Value:
    return lambda _node, reading: value(reading)


def _ecc(value: Callable[[Reading], object]) -> Value:
    """What only a GPU with ECC memory counts."""
    return lambda _node, reading: value(reading) if reading.model.ecc else None


def _hex(text: str | None) -> str | None:
    return None if text is None else f"0x{text}10DE"


def _address(reading: Reading) -> tuple[str, str, str]:
    domain, bus, rest = reading.bus_id.split(":")
    return f"0x{domain[-4:]}", f"0x{bus}", f"0x{rest.partition('.')[0]}"


def _limit(reading: Reading) -> float | None:
    return None if reading.model.power_limit is None else float(reading.model.power_limit)


def _lowest(reading: Reading) -> float | None:
    return None if reading.model.power_min is None else float(reading.model.power_min)


def _banks(place: int) -> Value:
    return lambda _node, reading: None if reading.row_banks is None else reading.row_banks[place]


def _errors(kind: str, life: str) -> Iterable[tuple[str, tuple[Value, str]]]:
    """ECC counters by where they are counted: those of HBM in `dram`, none in the rest."""
    suffix = "" if life == "volatile" else "_aggregate"
    counted = _ecc(lambda reading: getattr(reading.gpu.ecc, f"{kind}{suffix}"))
    for place in ("device_memory", "dram", "total"):
        yield f"ecc.errors.{kind}.{life}.{place}", (counted, "")
    for place in ("register_file", "l1_cache", "l2_cache", "texture_memory", "cbu"):
        yield f"ecc.errors.{kind}.{life}.{place}", (_told(None), "")
    yield f"ecc.errors.{kind}.{life}.sram", (_ecc(lambda _: 0), "")
    if kind == "uncorrected":
        for place in ("parity", "secded"):
            yield f"ecc.errors.{kind}.{life}.sram.{place}", (_ecc(lambda _: 0), "")
    if kind == "uncorrected" and life == "aggregate":
        yield f"ecc.errors.{kind}.{life}.sram.thresholdExceeded", (_ecc(lambda _: "No"), "")
        for place in ("l2", "sm", "mcu", "pcie", "other"):
            yield f"ecc.errors.{kind}.{life}.sram.{place}", (_ecc(lambda _: 0), "")


def _reasons() -> Iterable[tuple[str, tuple[Value, str]]]:
    def active(reason: str) -> Value:
        return lambda _node, reading: _ACTIVE[reason in reading.reasons]

    for family in ("clocks_event_reasons", "clocks_throttle_reasons"):
        yield f"{family}.supported", (_told("0x00000000000001FF"), "")
        yield f"{family}.active", (_of(lambda reading: f"0x{reading.reasons_mask:016X}"), "")
        for reason in REASONS:
            if reason != "display_clock_setting":
                yield f"{family}.{reason}", (active(reason), "")
    for reason in ("sw_power_cap", "sync_boost", "sw_thermal_slowdown", "hw_thermal_slowdown"):
        yield f"clocks_event_reasons_counters.{reason}", (_counter(reason), "us")
    yield "clocks_event_reasons_counters.hw_power_brake_slowdown", (_counter("hw_power_brake_slowdown"), "us")


def _counter(reason: str) -> Value:
    return lambda _node, reading: 1_000_000 if reason in reading.reasons else 0


_IDENTITY: dict[str, tuple[Value, str]] = {
    "timestamp": (
        lambda node, _: node.now.strftime("%Y/%m/%d %H:%M:%S.") + f"{node.now.microsecond // 1000:03d}",
        "",
    ),
    "driver_version": (_of(lambda reading: reading.driver), ""),
    "kmd_version": (_of(lambda reading: reading.driver), ""),
    "count": (lambda node, _: len(node.gpus), ""),
    "index": (lambda node, reading: node.gpus.index(reading.gpu), ""),
    "minor_number": (_of(lambda reading: reading.gpu.minor), ""),
    **dict.fromkeys(("name", "gpu_name"), (_of(lambda reading: reading.gpu.model), "")),
    **dict.fromkeys(("serial", "gpu_serial"), (_of(lambda reading: reading.serial), "")),
    **dict.fromkeys(("uuid", "gpu_uuid"), (_of(lambda reading: reading.gpu.uuid), "")),
    **dict.fromkeys(("pci.bus_id", "gpu_bus_id"), (_of(lambda reading: reading.bus_id), "")),
    "hostname": (_told(None), ""),
}
_REMAPPED: dict[str, tuple[Value, str]] = {
    "remapped_rows.correctable": (_ecc(lambda _: 0), ""),
    "remapped_rows.uncorrectable": (_ecc(lambda reading: reading.gpu.ecc.remapped_rows), ""),
    "remapped_rows.pending": (_ecc(lambda reading: _YES[reading.gpu.ecc.remap_pending]), ""),
    "remapped_rows.failure": (_ecc(lambda reading: _YES[reading.gpu.ecc.remap_failed]), ""),
    "remapped_rows.histogram.max": (_banks(0), ""),
    "remapped_rows.histogram.high": (_banks(1), ""),
    "remapped_rows.histogram.partial": (_banks(2), ""),
    "remapped_rows.histogram.low": (_banks(3), ""),
    "remapped_rows.histogram.none": (_banks(4), ""),
}
_GPU: dict[str, tuple[Value, str]] = {
    **_IDENTITY,
    **_REMAPPED,
    **dict(_reasons()),
    **{name: value for kind in ("corrected", "uncorrected") for life in ("volatile", "aggregate")
       for name, value in _errors(kind, life)},
    "pci.domain": (_of(lambda reading: _address(reading)[0]), ""),
    "pci.bus": (_of(lambda reading: _address(reading)[1]), ""),
    "pci.device": (_of(lambda reading: _address(reading)[2]), ""),
    "pci.baseClass": (_told("0x3"), ""),
    "pci.subClass": (_told("0x2"), ""),
    "pci.device_id": (_of(lambda reading: _hex(reading.model.device_id)), ""),
    "pci.sub_device_id": (_of(lambda reading: _hex(reading.model.subsystem_id)), ""),
    **dict.fromkeys(
        ("pcie.link.gen.current", "pcie.link.gen.gpucurrent", "pcie.link.gen.max", "pcie.link.gen.gpumax"),
        (_of(lambda reading: reading.model.pcie), ""),
    ),
    "pcie.link.gen.hostmax": (_told(None), ""),
    **dict.fromkeys(("pcie.link.width.current", "pcie.link.width.max"), (_told(16), "")),
    "display_mode": (_told(DEPRECATED), ""),
    "display_attached": (_told("Yes"), ""),
    "display_active": (_told("Disabled"), ""),
    "persistence_mode": (_of(lambda reading: _ENABLED[reading.persistent]), ""),
    "addressing_mode": (_told("None"), ""),
    "accounting.mode": (_told("Disabled"), ""),
    "accounting.buffer_size": (_told(4000), ""),
    **dict.fromkeys(("driver_model.current", "driver_model.pending"), (_told(None), "")),
    "vbios_version": (_of(lambda reading: reading.model.vbios), ""),
    "inforom.img": (_of(lambda reading: reading.model.inforom), ""),
    "inforom.oem": (_ecc(lambda _: "2.1"), ""),
    "inforom.ecc": (_ecc(lambda reading: "7.16" if reading.model.links else "6.16"), ""),
    "inforom.pwr": (_told(None), ""),
    "inforom.checksum_validation": (_ecc(lambda _: "valid"), ""),
    "gpu_recovery_action": (_of(lambda reading: reading.recovery_action), ""),
    **dict.fromkeys(("gom.current", "gom.pending"), (_told(None), "")),
    "fan.speed": (_told(None), "%"),
    "pstate": (_of(lambda reading: reading.performance_state), ""),
    "memory.total": (_of(lambda reading: reading.gpu.memory_mib), "MiB"),
    "memory.reserved": (_of(lambda reading: reading.memory_reserved), "MiB"),
    "memory.used": (_told(0), "MiB"),
    "memory.free": (_of(lambda reading: reading.memory_free), "MiB"),
    "compute_mode": (_told("Default"), ""),
    "compute_cap": (_of(lambda reading: reading.model.capability), ""),
    **dict.fromkeys((f"utilization.{engine}" for engine in ("gpu", "memory", "encoder", "decoder", "jpeg", "ofa")),
                    (_told(0), "%")),
    **dict.fromkeys((f"encoder.stats.{what}" for what in ("sessionCount", "averageFps", "averageLatency")),
                    (_told(0), "")),
    **dict.fromkeys(("dramEncryption.mode.current", "dramEncryption.mode.pending"), (_told(None), "")),
    **dict.fromkeys(("ecc.mode.current", "ecc.mode.pending"), (_ecc(lambda _: "Enabled"), "")),
    **dict.fromkeys((f"retired_pages.{what}" for what in ("single_bit_ecc.count", "double_bit.count", "pending")),
                    (_told(None), "")),
    "temperature.gpu": (_of(lambda reading: reading.temperature), ""),
    "temperature.gpu.tlimit": (_ecc(lambda reading: reading.temperature_limit), ""),
    "temperature.memory": (_ecc(lambda reading: reading.temperature + 7 if reading.model.links else None), ""),
    "power.management": (_told(DEPRECATED), ""),
    **dict.fromkeys(("power.draw", "power.draw.average", "power.draw.instant"),
                    (_of(lambda reading: reading.watts), "W")),
    **dict.fromkeys(("power.limit", "enforced.power.limit", "power.default_limit", "power.max_limit"),
                    (_of(_limit), "W")),
    "power.min_limit": (_of(_lowest), "W"),
    **dict.fromkeys(("clocks.current.graphics", "clocks.current.sm", "clocks.gr", "clocks.sm"),
                    (_of(lambda reading: reading.clock), "MHz")),
    **dict.fromkeys(("clocks.current.memory", "clocks.mem"), (_of(lambda reading: reading.model.memory_mhz), "MHz")),
    **dict.fromkeys(("clocks.current.video", "clocks.video"), (_of(lambda reading: reading.model.video_mhz), "MHz")),
    **dict.fromkeys((f"clocks.{kind}.{clock}" for kind in ("applications", "default_applications")
                     for clock in ("graphics", "memory")), (_told(DEPRECATED), "MHz")),
    **dict.fromkeys(("clocks.max.graphics", "clocks.max.sm"), (_of(lambda reading: reading.model.sm_mhz), "MHz")),
    "clocks.max.memory": (_of(lambda reading: reading.model.memory_mhz), "MHz"),
    "mig.mode.current": (_of(lambda reading: _mig(reading, reading.mig_mode)), ""),
    "mig.mode.pending": (_of(lambda reading: _mig(reading, reading.mig_pending)), ""),
    **dict.fromkeys(("gsp.mode.current", "gsp.mode.default"), (_told("Enabled"), "")),
    "c2c.mode": (_of(lambda reading: "Enabled" if "GB" in reading.gpu.model.split()[-1][:2] else "Disabled"), ""),
    **dict.fromkeys((f"protected_memory.{what}" for what in ("total", "used", "free")), (_told(0), "MiB")),
    "fabric.state": (_of(lambda reading: reading.fabric), ""),
    "fabric.status": (_of(lambda reading: _fabric_status(reading)), ""),
    "fabric.cliqueId": (_of(lambda reading: None if reading.fabric is None else 0), ""),
    "fabric.clusterUuid": (_of(lambda reading: None if reading.fabric is None else NO_CLUSTER), ""),
    "platform.module_id": (_of(lambda reading: reading.gpu.minor + 1), ""),
}  # fmt: skip
NO_CLUSTER = "00000000-0000-0000-0000-000000000000"
_PROCESS = dict.fromkeys(("pid", "process_name", "name"), (_told(None), "")) | dict.fromkeys(
    ("used_gpu_memory", "used_memory"), (_told(None), "MiB")
)
_PAGES = dict.fromkeys(
    ("retired_pages.address", "retired_pages.timestamp", "retired_pages.cause"), (_told(None), "")
)
_TABLES: dict[str, dict[str, tuple[Value, str]]] = {
    "gpu": _GPU,
    "compute-apps": {**_IDENTITY, **_PROCESS},
    "remapped-rows": {**_IDENTITY, **_REMAPPED},
    "retired-pages": {**_IDENTITY, **_PAGES},
}


def _mig(reading: Reading, on: bool) -> str | None:
    return _ENABLED[on] if reading.model.mig else None


def _fabric_status(reading: Reading) -> str | None:
    if reading.fabric is None:
        return None
    return "Success" if reading.fabric == "Completed" else NOT_AVAILABLE


def cuda_version(node: Node) -> str:
    """The CUDA that this driver runs, for headers."""
    return cuda_of(node.loaded or "") or "N/A"
