"""Data rows from the package's own CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

DATA = Path(__file__).parent / "data"

Row = Mapping[str, str]


def rows(table: str, folder: Path = DATA) -> Iterator[Row]:
    """The rows of `<table>.csv` in their order."""
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def whole(text: str) -> int | None:
    """A whole number; an empty cell is a fact that no source tells."""
    return int(text) if text else None
