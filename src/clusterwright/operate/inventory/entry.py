"""What one line of a site's own list says of a machine, before anybody judged it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from clusterwright.finding import Finding, Severity, Where


class Cell(NamedTuple):
    """A text and its place."""

    text: str
    where: Where


@dataclass(frozen=True, slots=True)
class Entry:
    """Cells by column: those of the file of machines, and `rack`, `unit`, `model` and `role`."""

    where: Where
    cells: dict[str, Cell]
    of_bmc: bool = False
    """Whether MAC and address are those of a BMC."""
    called: str = ""
    """The name that is taken where no list has another one for this machine."""


@dataclass(slots=True)
class Listed:
    """One file, read."""

    entries: list[Entry] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def doubt(self, code: str, where: Where, what: str, remedy: str) -> None:
        self.findings.append(Finding(code, where, what, remedy, Severity.WARNING))

    def note(self, code: str, where: Where, what: str, remedy: str) -> None:
        self.findings.append(Finding(code, where, what, remedy, Severity.NOTE))


def some(names: Iterable[str]) -> str:
    """The first few of many."""
    every = list(dict.fromkeys(names))
    return ", ".join(every[:5]) + (f" and {len(every) - 5} more" if len(every) > 5 else "")
