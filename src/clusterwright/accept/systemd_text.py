"""What `systemctl show` prints, as data."""

from __future__ import annotations

from collections.abc import Mapping

PROPERTIES = (
    "Id",
    "LoadState",
    "ActiveState",
    "SubState",
    "Result",
    "After",
    "Requires",
    "ActiveEnterTimestampMonotonic",
    "ConditionResult",
    "ConditionTimestampMonotonic",
)


def units(text: str) -> dict[str, Mapping[str, str]]:
    """Properties by unit, from blocks that an empty line parts."""
    found: dict[str, Mapping[str, str]] = {}
    for block in text.strip().split("\n\n"):
        properties = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        if "Id" in properties:
            found[properties["Id"]] = properties
    return found


def stays_away(unit: Mapping[str, str]) -> bool:
    """Its own Condition says that it has nothing to do here, as chrony's where the clock is the host's."""
    tried = unit.get("ConditionTimestampMonotonic", "0") not in ("", "0")
    return unit.get("ActiveState") == "inactive" and tried and unit.get("ConditionResult") == "no"


def state(unit: Mapping[str, str]) -> str:
    """`failed (exit-code)` rather than four properties."""
    if unit.get("LoadState") == "not-found":
        return "not installed"
    active, result = unit.get("ActiveState", "unknown"), unit.get("Result", "")
    return f"{active} ({result})" if active == "failed" and result else active
