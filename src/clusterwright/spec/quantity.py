"""Values with their unit in the text: `4800 GiB`, `30 min`, `40 kW`."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

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
    "second": 1,
    "seconds": 1,
    "min": 60,
    "minute": 60,
    "minutes": 60,
    "h": 3600,
    "hour": 3600,
    "hours": 3600,
    "d": 86400,
    "day": 86400,
    "days": 86400,
}
_POWERS = {"W": 1, "kW": 1000, "MW": 1_000_000}
_RATES = {"MB/s": 10**6, "GB/s": 10**9, "TB/s": 10**12}
_INSTANT = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?Z", re.ASCII)
_QUANTITY = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{1,6})?)\s*([A-Za-z/]+)\s*")


def _parser(units: dict[str, int], example: str, most: str) -> BeforeValidator:
    def parse(value: object) -> int:
        amount = _amount(value, units)
        if amount is None:
            problem = f"needs a number and a unit ({', '.join(units)})"
        elif amount < 1:
            problem = "needs more than nothing"
        elif amount > limit:
            problem = f"is more than {most}"
        else:
            return amount
        remedy = f"Write it like `{example}`"
        raise PydanticCustomError("quantity", "{problem}", {"problem": problem, "remedy": remedy})

    limit = _amount(most, units) or 0
    return BeforeValidator(parse)


def _amount(value: object, units: dict[str, int]) -> int | None:
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    return round(float(match[1]) * units[match[2]]) if match and match[2] in units else None


def seconds(text: str) -> int | None:
    """A duration; None for what is none."""
    return _amount(text, _DURATIONS)


def _schema(kind: str, units: dict[str, int], example: str) -> WithJsonSchema:
    pattern = rf"^\s*[0-9]{{1,15}}(\.[0-9]{{1,6}})?\s*({'|'.join(units)})\s*$"
    words = f"{kind} with its unit, such as `{example}`"
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example], "x-kind": words})


def _instant(value: object) -> str:
    """Written with seconds and as UTC, whatever was left out."""
    if isinstance(value, str) and _INSTANT.fullmatch(value):
        try:
            return datetime.fromisoformat(value).strftime("%Y-%m-%dT%H:%M:%SZ")
        except ValueError:
            pass
    problem, remedy = "needs a day and a time of day in UTC", "Write it like `2026-12-14T11:30Z`"
    raise PydanticCustomError("quantity", "{problem}", {"problem": problem, "remedy": remedy})


Bytes = Annotated[int, _parser(_SIZES, "4800 GiB", "1024 PiB"), _schema("size", _SIZES, "4800 GiB")]
"""A size; in memory a number of bytes."""
Seconds = Annotated[
    int, _parser(_DURATIONS, "30 min", "3650 days"), _schema("duration", _DURATIONS, "30 min")
]
"""A duration; in memory a number of seconds."""
Watts = Annotated[int, _parser(_POWERS, "40 kW", "10000 MW"), _schema("power", _POWERS, "40 kW")]
"""A power; in memory a number of watts."""
Throughput = Annotated[int, _parser(_RATES, "20 GB/s", "10 TB/s"), _schema("rate", _RATES, "20 GB/s")]
"""A rate of data; in memory a number of bytes per second."""
Instant = Annotated[
    str,
    BeforeValidator(_instant),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": f"^{_INSTANT.pattern}$",
            "examples": ["2026-12-14T11:30Z"],
            "x-kind": "moment in UTC, such as `2026-12-14T11:30Z`",
        }
    ),
]
"""A moment; in memory its text, with seconds."""
