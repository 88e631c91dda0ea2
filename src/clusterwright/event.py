"""What long work says while it goes on; the command line turns it into a live table, lines or JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Status = Literal["started", "progress", "ok", "changed", "failed", "unreachable", "skipped"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `step` is the stage (`image`, `nodes`, `converge`, `accept` …)."""

    step: str
    status: Status
    text: str = ""
    node: str | None = None


Report = Callable[[Event], None]
"""Where events go."""
