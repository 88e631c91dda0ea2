"""The frames that dcgmi draws."""

from __future__ import annotations

from collections.abc import Iterable

_LEFT, _RIGHT = 27, 48


def two_columns(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A titled table; a text that is too long for its column goes on below."""
    rule = f"+{'-' * _LEFT}+{'-' * _RIGHT}+\n"
    text = f"{rule}| {title:<{_LEFT + _RIGHT - 1}} |\n+{'=' * _LEFT}+{'=' * _RIGHT}+\n"
    return text + "".join(row(name, value) for name, value in rows) + rule


def row(name: str, value: str) -> str:
    """One row, on as many lines as its value takes."""
    width = _RIGHT - 2
    parts = [value[start : start + width] for start in range(0, len(value), width)] or [""]
    return "".join(
        f"| {name if line == 0 else '':<{_LEFT - 2}} | {part:<{width}} |\n" for line, part in enumerate(parts)
    )


def section(name: str, corner: str = "|") -> str:
    """`|-----  Deployment  --------+---…|`, which starts a group of rows."""
    return f"{corner}{f'-----  {name}  ':-<{_LEFT}}+{'-' * _RIGHT}{corner}\n"
