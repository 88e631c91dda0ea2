"""What amd-smi tells, as a tree of labels and values, and the three forms that it prints of it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

NOT_TOLD = "N/A"
Tree = Mapping[str, object]
"""A list as a value is printed in brackets, a tuple without them; JSON makes no difference."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit: JSON has both apart, text together, CSV the number alone."""

    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.value} {'°C' if self.unit == 'C' else self.unit}"


@dataclass(frozen=True, slots=True)
class Series:
    """Things of one kind: a list in JSON, in text each below `label` with its number in the braces."""

    label: str
    rows: Sequence[Tree]
    number: str = ""
    """What JSON calls the number, where it has one."""


def quantity(text: str) -> object:
    """`750 W` and `304` as they are counted; any other text as it is."""
    number, _, unit = text.partition(" ")
    try:
        value = float(number) if "." in number else int(number)
    except ValueError:
        return text
    return Quantity(value, unit) if unit else value


def as_json(document: object) -> str:
    return json.dumps(_plain(document), indent=4) + "\n"


def as_text(rows: Sequence[Tree]) -> str:
    """Each GPU's labels below its number, and an empty line after it."""
    return "".join(
        f"GPU: {row['gpu']}\n"
        + "".join(_lines({key: value for key, value in row.items() if key != "gpu"}, 1))
        + "\n"
        for row in rows
    )


def as_csv(rows: Sequence[Tree]) -> str:
    """A line a GPU; of a label below another one only the lower name is kept, as amd-smi does."""
    flat = [dict(_cells(row)) for row in rows]
    columns = list(dict.fromkeys(name for row in flat for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval=NOT_TOLD, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, Quantity):
        return {"value": value.value, "unit": value.unit}
    if isinstance(value, Series):
        numbered = ({value.number: number} if value.number else {} for number in range(len(value.rows)))
        return [{**number, **_members(row)} for number, row in zip(numbered, value.rows, strict=True)]
    if isinstance(value, Mapping):
        return _members(value)
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


def _members(tree: Tree) -> dict[str, object]:
    return {name: _plain(value) for name, value in tree.items()}


def _lines(tree: Tree, depth: int) -> Iterator[str]:
    margin = "    " * depth
    for name, value in tree.items():
        label = name.upper()
        if isinstance(value, Mapping):
            yield f"{margin}{label}:\n"
            yield from _lines(value, depth + 1)
        elif isinstance(value, Series):
            yield f"{margin}{label}:\n"
            for number, row in enumerate(value.rows):
                if value.label:
                    yield f"{margin}    {value.label.format(number)}:\n"
                yield from _lines(row, depth + (2 if value.label else 1))
        else:
            yield f"{margin}{label}: {_words(value)}\n"


def _words(value: object) -> str:
    if isinstance(value, (list, tuple)):
        joined = ", ".join(str(each) for each in value)
        return joined if isinstance(value, tuple) else f"[{joined}]"
    return str(value)


def _cells(tree: Tree, above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            for lower, cell in value.items():
                if isinstance(cell, Mapping):
                    yield from _cells(cell, f"{lower}_")
                else:
                    yield f"{above}{lower}", _cell(cell)
        else:
            yield f"{above}{name}", _cell(value)


def _cell(value: object) -> object:
    if isinstance(value, Quantity):
        return value.value
    if isinstance(value, Series):
        return json.dumps(_plain(value))
    return [_cell(each) for each in value] if isinstance(value, (list, tuple)) else value
