"""`nvidia-smi --query-…`: comma-separated values of named fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path

from ..facts import cuda_of, driver_within
from ..node import Answer, Node
from ..reading import Reading
from .options import Options

NOT_AVAILABLE = "[N/A]"
_WORDS = {"yes": ("No", "Yes"), "enabled": ("Disabled", "Enabled")}
_CAUSES = ({"retired_pages.cause": "Single Bit ECC"}, {"retired_pages.cause": "Double Bit ECC"})
_GUARDS: dict[str, Callable[[Reading], object]] = {
    "ecc": lambda reading: reading.model.ecc,
    "mig": lambda reading: reading.model.mig,
    "whole": lambda reading: not reading.mig_mode,
    "hbm": lambda reading: reading.model.memory_watts,
    "sold": lambda reading: not reading.model.consumer,
}


@dataclass(frozen=True, slots=True)
class Field:
    """A line of fields.txt: what is asked of a reading, and how the answer is written."""

    unit: str
    words: tuple[str, ...]
    drivers: str = ""

    def value(self, reading: Reading) -> str | None:
        """The value without its unit; None where the GPU has none."""
        words = list(self.words)
        truth = None
        while words and words[0] in (*_GUARDS, *_WORDS):
            word = words.pop(0)
            if word in _GUARDS and not _GUARDS[word](reading):
                return None
            truth = _WORDS.get(word, truth)
        if not words:
            return None
        if words[0] == "reason":
            return "Active" if words[1] in reading.reasons else "Not Active"
        if words[0] == "counted":
            return "1000000" if words[1] in reading.reasons else "0"
        if words[0].startswith("'"):
            return " ".join(words)[1:]
        return _written(attrgetter(words[0][1:])(reading), truth)


def _written(found: object, truth: tuple[str, str] | None) -> str | None:
    if found is None:
        return None
    if truth is not None:
        return truth[bool(found)]
    return f"{found:.2f}" if isinstance(found, float) else str(found)


@cache
def fields(table: str, driver: str) -> Mapping[str, Field]:
    """The fields of a table that a driver knows, in the vendor's order."""
    return {name: field for name, field in _every(table) if driver_within(driver, field.drivers)}


def _every(table: str) -> Iterator[tuple[str, Field]]:
    for line in Path(__file__).with_name("fields.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, unit, value, tables, drivers = (cell.strip() for cell in f"{line} | | | |".split("|")[:5])
        if tables == "*" or table in (tables or "gpu").split():
            yield name, Field(unit, tuple(value.split()), drivers)


def answer(readings: list[Reading], options: Options) -> Answer:
    """The table that was asked for."""
    known = fields(options.query, readings[0].driver)
    for name in options.fields:
        if name not in known:
            return Answer(f'Field "{name}" is not a valid field to query.\n\n', 2)
    titles = [f"{name} [{known[name].unit}]" if known[name].unit else name for name in options.fields]
    lines = [] if "noheader" in options.format else [", ".join(titles)]
    bare = "nounits" in options.format
    for reading, told in _subjects(options.query, readings):
        cells = [told.get(name) or _cell(reading, known[name], bare) for name in options.fields]
        lines.append(", ".join(cells))
    return Answer("".join(f"{line}\n" for line in lines))


def _subjects(table: str, readings: list[Reading]) -> list[tuple[Reading, Mapping[str, str]]]:
    """No process uses a simulated GPU. Pages retire before Ampere only: later GPUs name both causes."""
    causes = {"retired-pages": _CAUSES, "compute-apps": ()}.get(table, ({},))
    return [(reading, cause) for reading in readings for cause in causes]


def _cell(reading: Reading, field: Field, bare: bool) -> str:
    value = field.value(reading)
    if value is None:
        return NOT_AVAILABLE
    return value if bare or not field.unit or value.startswith("[") else f"{value} {field.unit}"


def cuda_version(node: Node) -> str:
    """The CUDA that this driver runs, for headers."""
    return cuda_of(node.loaded or "") or "N/A"
