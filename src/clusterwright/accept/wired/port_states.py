"""What `iblinkinfo --line` says of ports without a link."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINE = re.compile(
    r'(?P<guid>0x[0-9a-f]+) "[^"]*"\s+\d+\s+(?P<port>\d+)\[.*?\] ==\(\s*(?P<state>[^)]*?)\s*\)==>'
)

PortStates = Mapping[tuple[str, int], str]
"""Words of the physical state by the switch's GUID (16 digits) and port, `Polling` or `Disabled`."""

MEANING = {
    "Polling": "no cable, or nothing at its other end",
    "Disabled": "somebody disabled this port",
    "Sleep": "the port sleeps",
    "PortConfigurationTraining": "training never ends: cable or transceiver",
    "LinkErrorRecovery": "it loses its link again and again: cable or transceiver",
    "PhyTest": "the port is in its test mode",
}
"""What a physical port state means to who stands before the switch; InfiniBand's specification, PortInfo."""


def read_states(text: str) -> PortStates:
    """Ports that are down. Lines that say something else are passed over."""
    found = {}
    for line in text.splitlines():
        if (match := _LINE.match(line)) and "Down/" in match["state"]:
            guid = match["guid"].removeprefix("0x").rjust(16, "0")
            found[guid, int(match["port"])] = match["state"].partition("/")[2].strip()
    return found
