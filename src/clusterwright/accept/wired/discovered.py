"""What `ibnetdiscover` prints: every device that answered, and what each of its ports is joined to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from clusterwright.catalog.switches import infiniband_speeds
from clusterwright.plan.wiring import End

_DEVICE = re.compile(r'(?P<kind>Switch|Ca|Rt)\s+\d+\s+"(?P<id>[^"]+)"\s+# "(?P<name>[^"]*)"')
_LINK = re.compile(
    r'\[(?P<port>\d+)\]\S*\s+"(?P<peer>[^"]+)"\[(?P<peer_port>\d+)\]'
    r".* (?P<width>\d+)x(?P<speed>[A-Z]+[0-9]*)\s*$"
)
_MANAGED_SWITCH = re.compile(r"(?:MF0;)?(?P<host>[^:;]+):[^/]+/U\d+$")
BY_SUBNET, BY_LLDP = "GUID", "chassis"
"""What InfiniBand's tools know a switch by, and LLDP."""
_CARD = re.compile(r"(?P<host>\S+)\s+(?P<card>\S+)$")


class Illegible(ValueError):
    """The text is not what ibnetdiscover prints."""


class Port(NamedTuple):
    """A port of a switch (`card` is empty), or the card of a node."""

    device: str
    port: int
    card: str = ""

    @classmethod
    def of(cls, end: End) -> Port:
        """The port that a described end is."""
        return cls(end.device, 0, end.card) if end.card else cls(end.device, end.port)

    def __str__(self) -> str:
        return f"{self.device} {self.card}" if self.card else f"{self.device}/{self.port}"


class Link(NamedTuple):
    """The other end of a link. Gbit/s of the whole link, or None for a speed that no table knows."""

    to: Port
    gbps: int | None
    words: str
    """Width and speed as the tool prints them, `4xNDR`."""


@dataclass(slots=True)
class Discovered:
    """A fabric as it answers. A switch that does not tell which one it is, is called by its GUID."""

    links: dict[Port, Link] = field(default_factory=dict)
    switches: dict[str, str] = field(default_factory=dict)
    """GUID by name."""
    nodes: set[str] = field(default_factory=set)
    unnamed: dict[str, str] = field(default_factory=dict)
    """What a switch says of itself, by what it is called here; its name is a factory's, or another's too."""
    known_by: str = BY_SUBNET
    """What the identifiers of switches are."""
    ids: dict[str, str] = field(default_factory=dict)
    """Identifiers of unnamed switches, where they are not part of what those are called here."""


class _Device(NamedTuple):
    name: str
    card: str


def read(text: str, switch_names: Iterable[str]) -> Discovered:
    """Raises Illegible. `switch_names` are those that are described: any other name may be a factory's."""
    found = Discovered()
    lines = text.splitlines()
    listed = [match for match in map(_DEVICE.match, lines) if match]
    if not listed:
        raise Illegible("there is no device in it")
    devices = _devices(listed, set(switch_names), found)
    here: _Device | None = None
    for line in lines:
        if match := _DEVICE.match(line):
            here = devices[match["id"]]
        elif (match := _LINK.match(line)) and here:
            peer = devices.get(match["peer"])
            if peer is None:
                raise Illegible(f"'{match['peer']}' is linked and not listed: is the text cut off?")
            link = Link(_port(peer, match["peer_port"]), _gbps(match), f"{match['width']}x{match['speed']}")
            found.links[_port(here, match["port"])] = link
    return found


def _devices(listed: list[re.Match[str]], known: set[str], found: Discovered) -> dict[str, _Device]:
    names = {match["id"]: switch_name(match["name"]) for match in listed if match["kind"] != "Ca"}
    times = Counter(names.values())
    devices = {}
    for match in listed:
        guid, said = match["id"].partition("-")[2], match["name"]
        name = names.get(match["id"])
        if name is None:
            devices[match["id"]] = card = _card(said, guid)
            found.nodes.add(card.name)
        elif times[name] > 1 or (name not in known and name == said):
            found.unnamed[f"GUID {guid}"] = said
            devices[match["id"]] = _Device(f"GUID {guid}", "")
        else:
            found.switches[name] = guid
            devices[match["id"]] = _Device(name, "")
    return devices


def switch_name(said: str) -> str:
    """`leaf-01` of `MF0;leaf-01:MQM9700/U1`; what is not of that form is taken as it is."""
    managed = _MANAGED_SWITCH.match(said)
    return managed["host"].partition(".")[0] if managed else said


def _card(said: str, guid: str) -> _Device:
    named = _CARD.match(said)
    host = (named["host"] if named else said).partition(".")[0] or f"GUID {guid}"
    return _Device(host, named["card"] if named else said)


def _port(device: _Device, number: str) -> Port:
    return Port(device.name, 0 if device.card else int(number), device.card)


def _gbps(match: re.Match[str]) -> int | None:
    lanes_of_four = infiniband_speeds().get(match["speed"])
    return lanes_of_four * int(match["width"]) // 4 if lanes_of_four else None
