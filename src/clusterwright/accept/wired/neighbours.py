"""What a device heard over LLDP, as `lldpcli -f json show neighbors` or `-f json0` prints it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clusterwright.accept.wired.discovered import Illegible

_SPEED = re.compile(r"^/sys/class/net/(?P<interface>[^/\s]+)/speed:(?P<mbps>-?\d+)$", re.MULTILINE)


class Neighbour(NamedTuple):
    """What stands at the other end of an interface, in its own words."""

    chassis: str
    """What it is known by, a MAC as a rule."""
    name: str
    port: str
    description: str
    """Of the port: some switches put its name here, and a number into the identifier."""


@dataclass(frozen=True, slots=True)
class Heard:
    """All that one device heard."""

    neighbours: Mapping[str, tuple[Neighbour, ...]]
    """By interface."""
    mbps: Mapping[str, int] = field(default_factory=dict)
    """Speeds of interfaces that are up, where they were printed too."""
    interfaces: frozenset[str] = frozenset()
    """That are there, where that was printed too."""


def read_heard(text: str) -> Heard:
    """Raises Illegible. After the JSON may come what `grep . /sys/class/net/*/speed` prints."""
    start = text.find("{")
    try:
        body, end = json.JSONDecoder().raw_decode(text, max(start, 0))
    except ValueError as problem:
        raise Illegible(f"it is no JSON ({problem})") from None
    if not isinstance(body, dict) or "lldp" not in body:
        raise Illegible("there is no `lldp` in it")
    found: dict[str, tuple[Neighbour, ...]] = {}
    try:
        for interface, row in _interfaces(body["lldp"]):
            found[interface] = (*found.get(interface, ()), *_neighbours(row))
    except (AttributeError, TypeError, KeyError, ValueError):
        raise Illegible("`lldp` has not the form that lldpcli gives it") from None
    speeds = {match["interface"]: int(match["mbps"]) for match in _SPEED.finditer(text, end)}
    up = {interface: mbps for interface, mbps in speeds.items() if mbps > 0}
    return Heard(found, up, frozenset(speeds))


def _interfaces(lldp: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """In json0 a row tells its interface; in json it is the key, and a single row stands in no list."""
    for part in _list(lldp):
        for row in _list(part.get("interface", [])):
            if isinstance(row.get("name"), str):
                yield row["name"], row
            else:
                yield from row.items()


def _neighbours(row: dict[str, Any]) -> Iterator[Neighbour]:
    ports = _list(row.get("port", {}))
    for chassis, port in zip(_list(row.get("chassis", {})), ports, strict=True):
        name, told = _chassis(chassis)
        yield Neighbour(_value(told.get("id")), name, _value(port.get("id")), _value(port.get("descr")))


def _chassis(told: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """In json the name is the key around the rest, unless the neighbour tells none."""
    if isinstance(told.get("id"), list):
        return _value(told.get("name")), told
    if "id" in told and "value" in told["id"]:
        return "", told
    ((name, rest),) = told.items()
    return name, rest


def _value(told: Any) -> str:
    """`x` of "x", {"value": "x"} and [{"value": "x"}]."""
    for one in _list(told):
        return str(one["value"] if isinstance(one, dict) else one)
    return ""


def _list(told: Any) -> list[Any]:
    return told if isinstance(told, list) else [] if told is None else [told]
