"""What is known of a GPU model and of a release of ROCm. What no source tells is N/A."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .values import NOT_TOLD, quantity

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Sheet:
    """The facts of one model, by name."""

    facts: Mapping[str, str]

    def __getitem__(self, name: str) -> object:
        return quantity(self.facts.get(name, NOT_TOLD))

    def text(self, name: str) -> str:
        return self.facts.get(name, NOT_TOLD)

    def words(self, name: str) -> list[str]:
        """The parts of a fact that has several; none where it is not known."""
        return self.facts.get(name, "").split()

    def count(self, name: str) -> int:
        return int(self.facts.get(name, "0"))

    def below(self, name: str) -> list[list[str]]:
        """The parts of `name.0`, `name.1`, … in their order."""
        return [self.words(each) for each in self.facts if each.startswith(f"{name}.")]


@cache
def sheet_of(model: str) -> Sheet:
    return Sheet({row["fact"]: row["value"] for row in _rows("sheet.csv") if row["model"] == model})


def library_of(rocm: str) -> str:
    """The version of amd-smi's own library, which is not ROCm's."""
    branch = ".".join(rocm.split(".")[:2])
    return next((row["library"] for row in _rows("releases.csv") if row["rocm"] == branch), NOT_TOLD)


def before(rocm: str, release: str) -> bool:
    """Whether it is of an older release; one that is not known is of the newest."""
    return bool(rocm) and _numbers(rocm) < _numbers(release)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    with (_FOLDER / name).open(encoding="utf-8", newline="") as stream:
        return tuple(csv.DictReader(stream))
