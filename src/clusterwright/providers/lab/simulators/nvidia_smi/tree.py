"""Everything that `nvidia-smi -q` says of one GPU, once, for its text and its XML: report.txt, filled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from ..facts import driver_within
from ..partitions import memory_of, profile_of
from ..reading import MigDevice, Reading
from .query import fields

NA = "N/A"
_SHARED_NAMES = "590-"
"""Drivers that call the memory of a MIG device shared (H100, 590.48.01), as 580.173.02 (H200) does not."""


@dataclass(frozen=True, slots=True)
class Line:
    """A label of the text, a tag of the XML, a value or further lines. Without a label: only in the XML."""

    label: str
    tag: str
    value: str
    lines: tuple[Line, ...] = ()
    drivers: str = ""


def gpu_lines(reading: Reading) -> tuple[Line, ...]:
    """In the order of the captures."""
    return _of_driver(_template(), reading)


def _of_driver(lines: tuple[Line, ...], reading: Reading) -> tuple[Line, ...]:
    return tuple(
        _filled(line, reading)
        for line in lines
        if driver_within(reading.driver, line.drivers)
        and not (line.value.startswith("!") and _value(line.value[1:], reading) is None)
    )


def _filled(line: Line, reading: Reading) -> Line:
    if line.tag == "mig_devices" and reading.mig_devices:
        return Line("", "mig_devices", "", tuple(_mig_lines(reading)))
    if line.tag == "supported_clocks":
        return Line("", "supported_clocks", "", tuple(_clock_lines(reading)))
    mark, wanted = line.value[:1], line.value[1:]
    if mark == "?":
        if _value(wanted, reading) is None or reading.mig_mode:
            return Line(line.label, line.tag, NA)
        return Line(line.label, line.tag, "", _of_driver(line.lines, reading))
    value = line.value
    if mark in ("=", "!"):
        told = _value(wanted, reading)
        value = NA if told is None else told
    return Line(line.label, line.tag, value, _of_driver(line.lines, reading))


def _value(wanted: str, reading: Reading) -> str | None:
    """With its unit; None where the GPU has none."""
    name, _, suffix = wanted.partition(" ")
    field = fields("report" if name.startswith("@") else "gpu", reading.driver)[name]
    value = field.value(reading)
    unit = suffix or field.unit
    return value if value in (None, NA, "") else f"{value} {unit}" if unit else value


def _mig_lines(reading: Reading) -> Iterator[Line]:
    """One section a device, where a GPU without any says None."""
    shared = "Shared " if driver_within(reading.driver, _SHARED_NAMES) else ""
    for index, device in enumerate(reading.mig_devices):
        yield Line("MIG Device", "mig_device", "", tuple(_mig_facts(reading, index, device, shared)))


def _mig_facts(reading: Reading, index: int, device: MigDevice, shared: str) -> Iterator[Line]:
    profile = profile_of(reading.model.mig, device.profile)
    yield Line("Index", "index", str(index))
    yield Line("GPU Instance ID", "gpu_instance_id", str(device.instance.id))
    yield Line("Compute Instance ID", "compute_instance_id", "0")
    engines = (
        ("Multiprocessor count", "multiprocessor_count", "sm"),
        ("Copy Engine count", "copy_engine_count", "copy_engines"),
        ("Encoder count", "encoder_count", "encoders"),
        ("Decoder count", "decoder_count", "decoders"),
        ("OFA count", "ofa_count", "ofa"),
        ("JPG count", "jpg_count", "jpeg"),
    )
    counts = tuple(Line(label, tag, profile.parts[part] or NA) for label, tag, part in engines)
    yield Line("Device Attributes", "device_attributes", "", (Line("Shared", "shared", "", counts),))
    sram = Line("SRAM Uncorrectable", "sram_uncorrectable", "0")
    yield Line("ECC Errors", "ecc_error_count", "", (Line("Volatile", "volatile_count", "", (sram,)),))
    total = memory_of(profile, reading.gpu.memory_mib)
    yield Line(f"{shared}FB Memory Usage", "fb_memory_usage", "", _memory(total, reserved=True))
    bar1 = reading.mig_bar1(profile)
    yield Line(f"{shared}BAR1 Memory", "bar1_memory_usage", "", _memory(bar1, reserved=False))


def _memory(total: int | None, *, reserved: bool) -> tuple[Line, ...]:
    size = NA if total is None else f"{total} MiB"
    none = NA if total is None else "0 MiB"
    kept = (Line("Reserved", "reserved", none),) if reserved else ()
    return (Line("Total", "total", size), *kept, Line("Used", "used", none), Line("Free", "free", size))


def _clock_lines(reading: Reading) -> Iterator[Line]:
    """The memory's clock, and the clocks of the GPU beside it, from the fastest down."""
    clocks = [Line("", "supported_graphics_clock", f"{clock} MHz") for clock in reading.graphics_clocks]
    if clocks and reading.model.memory_mhz:
        memory = Line("", "value", f"{reading.model.memory_mhz} MHz")
        yield Line("", "supported_mem_clock", "", (memory, *clocks))


@cache
def _template() -> tuple[Line, ...]:
    text = Path(__file__).with_name("report.txt").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(_nested([(_depth(row), row) for row in rows], 0))


def _depth(row: str) -> int:
    """Two blanks a level; a row without a label may have one more before its bar."""
    return (len(row) - len(row.lstrip(" "))) // 2


def _nested(rows: list[tuple[int, str]], depth: int) -> Iterator[Line]:
    starts = [place for place, (level, _) in enumerate(rows) if level == depth]
    for start, end in pairwise([*starts, len(rows)]):
        label, tag, value, drivers = f"{rows[start][1].removeprefix('  ' * depth)} ||".split("|")[:4]
        # The vendor's own label of the memory's power ends in a blank.
        below = tuple(_nested(rows[start + 1 : end], depth + 1))
        yield Line(label[:-1], tag.strip(), value.strip(), below, drivers.strip())
