"""What every layer says when something is wrong: where it is, what it is, and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding weighs: an error refuses the plan, a warning is shown, a note informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Where:
    """A place a person can go to: a file position, a field path, or a node's name."""

    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""

    def __str__(self) -> str:
        position = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return ": ".join(part for part in (position, self.path) if part)


@dataclass(frozen=True, slots=True)
class Finding:
    """One mistake or risk. `code` is stable (`CW1203`) and is what `clusterwright explain` takes."""

    code: str
    where: Where
    what: str
    remedy: str
    severity: Severity = Severity.ERROR
    secretive: bool = False
    """Whether what stands at `where` may be a secret, and is not to be shown."""

    def __str__(self) -> str:
        return f"{self.where}: {self.code} {self.what}. {self.remedy}"

    def as_json(self) -> dict[str, object]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "file": self.where.file,
            "line": self.where.line,
            "column": self.where.column,
            "path": self.where.path,
            "what": self.what,
            "remedy": self.remedy,
        }


class Refused(Exception):
    """Raised with every finding at once when work cannot go on; the command line exits 2."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings: tuple[Finding, ...] = tuple(findings)
        assert self.findings, "a refusal without a finding would end a command without a word"
        super().__init__("; ".join(str(finding) for finding in self.findings))


def refuse(code: str, where: Where, what: str, remedy: str) -> Refused:
    """One-finding refusal, for `raise refuse(...)`."""
    return Refused([Finding(code, where, what, remedy)])
