"""`nvidia-smi --query-…`: comma-separated values of named fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path

from ..facts import cuda_of
from ..node import Answer, Node
from ..reading import Reading
from .options import Options

NOT_AVAILABLE = "[N/A]"
_WORDS = {"yes": ("No", "Yes"), "enabled": ("Disabled", "Enabled")}


@dataclass(frozen=True, slots=True)
class Field:
    """A line of fields.txt: what is asked of a reading, and how the answer is written."""

    unit: str
    words: tuple[str, ...]

    def value(self, reading: Reading) -> str | None:
        """The value without its unit; None where the GPU has none."""
        words = list(self.words)
        truth = None
        while words and words[0] in ("ecc", "mig", "yes", "enabled"):
            word = words.pop(0)
            if (word == "ecc" and not reading.model.ecc) or (word == "mig" and not reading.model.mig):
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
def fields(table: str) -> Mapping[str, Field]:
    """The fields of a table, in the vendor's order."""
    found = {}
    for line in Path(__file__).with_name("fields.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        name, unit, value, tables = (cell.strip() for cell in f"{line} | | |".split("|")[:4])
        if tables == "*" or table in (tables or "gpu").split():
            found[name] = Field(unit, tuple(value.split()))
    return found


def answer(readings: list[Reading], options: Options) -> Answer:
    """The table that was asked for."""
    known = fields(options.query)
    for name in options.fields:
        if name not in known:
            return Answer(f'Field "{name}" is not a valid field to query.\n\n', 2)
    titles = [f"{name} [{known[name].unit}]" if known[name].unit else name for name in options.fields]
    lines = [] if "noheader" in options.format else [", ".join(titles)]
    for reading in _subjects(options.query, readings):
        cells = [_cell(reading, known[name], "nounits" in options.format) for name in options.fields]
        lines.append(", ".join(cells))
    return Answer("".join(f"{line}\n" for line in lines))


def _subjects(table: str, readings: list[Reading]) -> list[Reading]:
    """No process uses a simulated GPU, so nothing is listed of processes; pages retire before Ampere only."""
    return readings if table in ("gpu", "remapped-rows") else []


def _cell(reading: Reading, field: Field, bare: bool) -> str:
    value = field.value(reading)
    if value is None:
        return NOT_AVAILABLE
    return value if bare or not field.unit or value.startswith("[") else f"{value} {field.unit}"


def cuda_version(node: Node) -> str:
    """The CUDA that this driver runs, for headers."""
    return cuda_of(node.loaded or "") or "N/A"
