"""Everything that `nvidia-smi -q` says of one GPU, once, for its text and its XML: report.txt, filled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from ..partitions import profiles
from ..reading import Reading
from .query import fields

NA = "N/A"


@dataclass(frozen=True, slots=True)
class Line:
    """A label of the text, a tag of the XML, a value or further lines. Without a label: only in the XML."""

    label: str
    tag: str
    value: str
    lines: tuple[Line, ...] = ()


def gpu_lines(reading: Reading) -> tuple[Line, ...]:
    """In the order of the captures."""
    return tuple(
        _mig_devices(reading) if line.tag == "mig_devices" and reading.mig_devices else _filled(line, reading)
        for line in _template()
    )


def _mig_devices(reading: Reading) -> Line:
    """One section a device, where a GPU without any says None."""
    devices = []
    for index, device in enumerate(reading.mig_devices):
        profile = next(each for each in profiles(reading.model.mig) if each.name == device.profile)
        total = reading.gpu.memory_mib * profile.slices // 8
        usage = (
            Line("Total", "total", f"{total} MiB"),
            Line("Used", "used", "0 MiB"),
            Line("Free", "free", f"{total} MiB"),
        )
        facts = (
            Line("Index", "index", str(index)),
            Line("GPU Instance ID", "gpu_instance_id", str(device.instance.id)),
            Line("Compute Instance ID", "compute_instance_id", "0"),
            Line("FB Memory Usage", "fb_memory_usage", "", usage),
        )
        devices.append(Line("MIG Device", "mig_device", "", facts))
    return Line("", "mig_devices", "", tuple(devices))


def _filled(line: Line, reading: Reading) -> Line:
    if line.value.startswith("?"):
        if _value(line.value[1:], reading) == NA:
            return Line(line.label, line.tag, NA)
        return Line(line.label, line.tag, "", tuple(_filled(each, reading) for each in line.lines))
    value = _value(line.value[1:], reading) if line.value.startswith("=") else line.value
    return Line(line.label, line.tag, value, tuple(_filled(each, reading) for each in line.lines))


def _value(wanted: str, reading: Reading) -> str:
    name, _, suffix = wanted.partition(" ")
    field = fields("report" if name.startswith("@") else "gpu")[name]
    value = field.value(reading)
    unit = suffix or field.unit
    return NA if value is None else f"{value} {unit}" if unit else value


@cache
def _template() -> tuple[Line, ...]:
    text = Path(__file__).with_name("report.txt").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(_nested([(_depth(row), row) for row in rows], 0))


def _depth(row: str) -> int:
    """Two blanks a level; a row without a label has one blank before its bar."""
    return (len(row) - len(row.lstrip(" "))) // 2


def _nested(rows: list[tuple[int, str]], depth: int) -> Iterator[Line]:
    starts = [place for place, (level, _) in enumerate(rows) if level == depth]
    for start, end in pairwise([*starts, len(rows)]):
        label, tag, value = (rows[start][1].removeprefix("  " * depth) + " ").split("|")
        # The vendor's own label of the memory's power ends in a blank.
        below = tuple(_nested(rows[start + 1 : end], depth + 1))
        yield Line(label[:-1], tag.strip(), value.strip(), below)
