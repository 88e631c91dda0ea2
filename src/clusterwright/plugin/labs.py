"""What the plugin needs of a machine's labs, in its own words, and the real thing behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from clusterwright.event import Report


@dataclass(frozen=True, slots=True)
class Described:
    """A description that passed every check."""

    name: str
    text: str
    digest: str
    """Of everything else that `up` brings to nodes: files beside the description, roles, templates."""


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab that exists."""

    handoff: str
    """The document as text; empty while it is half-made."""
    login: str
    """Address of the first login node; empty while it has none."""
    nodes: Mapping[str, str]
    """Node → `running`, or what it is instead."""
    problem: str = ""
    """Why it is not accepted; empty when it is."""


class Labs(Protocol):
    """The labs of this machine."""

    def describe(self, file: Path) -> Described:
        """Raises Refused with every finding."""

    def changes(self, file: Path) -> list[str]:
        """What `up` would do, in words, a line each."""

    def up(self, file: Path, report: Report) -> Lab:
        """Make it as described, from wherever it is now."""

    def find(self, name: str) -> Lab | None:
        """What is there; None when nothing is."""

    def destroy(self, name: str, report: Report) -> None:
        """Leave nothing; a lab that is gone already is fine."""
