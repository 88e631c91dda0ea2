"""Values with their unit in the text: `4800 GiB`, `30 min`, `40 kW`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

_SIZES = {
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "PiB": 2**50,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "PB": 10**15,
}
_DURATIONS = {
    "s": 1,
    "min": 60,
    "h": 3600,
    "d": 86400,
    "days": 86400,
    "day": 86400,
    "hours": 3600,
    "hour": 3600,
    "minutes": 60,
    "minute": 60,
    "seconds": 1,
    "second": 1,
}
_POWERS = {"W": 1, "kW": 1000, "MW": 1_000_000}
_QUANTITY = re.compile(r"^\s*(\d{1,15}(?:\.\d{1,6})?)\s*([A-Za-z]+)\s*$")


def _parser(units: dict[str, int], example: str) -> BeforeValidator:
    def parse(value: object) -> int:
        if isinstance(value, str) and (match := _QUANTITY.match(value)) and match[2] in units:
            return round(float(match[1]) * units[match[2]])
        known = ", ".join(units)
        raise ValueError(f"needs a number and a unit ({known}), for instance '{example}'")

    return BeforeValidator(parse)


def _schema(units: dict[str, int], example: str) -> WithJsonSchema:
    alternatives = "|".join(units)
    return WithJsonSchema(
        {"type": "string", "pattern": rf"^\s*\d+(\.\d+)?\s*({alternatives})\s*$", "examples": [example]}
    )


Bytes = Annotated[int, _parser(_SIZES, "4800 GiB"), _schema(_SIZES, "4800 GiB")]
"""A size; in memory a number of bytes."""
Seconds = Annotated[int, _parser(_DURATIONS, "30 min"), _schema(_DURATIONS, "30 min")]
"""A duration; in memory a number of seconds."""
Watts = Annotated[int, _parser(_POWERS, "40 kW"), _schema(_POWERS, "40 kW")]
"""A power; in memory a number of watts."""
