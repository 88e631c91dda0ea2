"""What DHCP servers know: leases of dnsmasq and of ISC's dhcpd, and the hosts of its configuration."""

from __future__ import annotations

import re
from bisect import bisect_right

from clusterwright.finding import Where
from clusterwright.operate.inventory.entry import Cell, Entry, Listed

# dnsmasq's lease_update_file(): time, address of the link (`06-` before it where it is no Ethernet),
# IPv4 address, host name or `*`, client identifier or `*`.
_DNSMASQ = re.compile(
    r"\d+ (?:[0-9a-f]{2}-)?([0-9a-f]{2}(?::[0-9a-f]{2})+) (\d+(?:\.\d+){3}) (\S+) (\S+)", re.I
)
# dhcpd.leases(5), dhcpd.conf(5)
_BLOCK = re.compile(r"^[ \t]*(lease|host)\s+(\S+)\s*\{([^{}]*)\}", re.MULTILINE)
_HARDWARE = re.compile(r"hardware\s+ethernet\s+([0-9a-f:]+)\s*;", re.IGNORECASE)
_HOSTNAME = re.compile(r"(?:client-hostname|option\s+host-name)\s+\"([^\"]*)\"\s*;")
_FIXED = re.compile(r"fixed-address\s+([0-9.]+)\s*;")
_STATE = re.compile(r"^\s*binding\s+state\s+(\w+)\s*;", re.MULTILINE)


def is_dnsmasq(text: str) -> bool:
    """Whether the first line that says anything is a lease of dnsmasq."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return bool(_DNSMASQ.match(first) or re.match(r"duid [0-9a-f:]+$", first, re.IGNORECASE))


def is_isc(text: str) -> bool:
    """Whether there are leases or hosts as dhcpd writes and reads them."""
    return bool(_BLOCK.search(text))


def read_dnsmasq(text: str, file: str, into: Listed) -> None:
    """A line for each lease. Leases of IPv6 are told of, and not taken."""
    _may_change(file, into)
    for at, line in enumerate(text.split("\n"), 1):
        if match := _DNSMASQ.match(line):
            name = "" if match[3] == "*" else match[3]
            told = {"node": (name, 3), "mac": (match[1], 1), "address": (match[2], 2)}
            cells = {
                column: Cell(value, Where(file, at, match.start(group) + 1))
                for column, (value, group) in told.items()
                if value
            }
            into.entries.append(Entry(Where(file, at, 1), cells))
        elif line.strip() and not line.startswith("duid "):
            into.note("CW8121", Where(file, at, 1), "no lease of IPv4; it is not taken", "Look at this line")


def read_isc(text: str, file: str, into: Listed) -> None:
    """The last word on each lease, as dhcpd takes it: the file is a log. Only leases that are in use."""
    last: dict[tuple[str, str], tuple[Entry, str]] = {}
    places = _Places(text, file)
    for block in _BLOCK.finditer(text):
        body, start = block[3], block.start(3)

        def found(pattern: re.Pattern[str], body: str = body, start: int = start) -> Cell | None:
            match = pattern.search(body)
            return Cell(match[1], places.at(start + match.start(1))) if match else None

        cells = {"mac": found(_HARDWARE)}
        if block[1] == "host":
            cells["node"] = Cell(block[2].strip('"'), places.at(block.start(2)))
            cells["address"] = found(_FIXED)
        else:
            cells["node"] = found(_HOSTNAME)
            cells["address"] = Cell(block[2], places.at(block.start(2)))
        state = _STATE.search(body)
        told = {column: cell for column, cell in cells.items() if cell}
        entry = Entry(places.at(block.start(1)), told)
        last[block[1], block[2]] = (entry, state[1] if state else "active")
    if any(kind == "lease" for kind, _ in last):
        _may_change(file, into)
    for entry, bound in last.values():
        if bound == "active":
            into.entries.append(entry)
        else:
            what = f"the lease of {entry.cells['address'].text} is {bound}, and is not taken"
            into.note("CW8121", entry.where, what, "Look whether its machine is still there")


def _may_change(file: str, into: Listed) -> None:
    what = "its addresses are leases, which DHCP may give to other machines"
    into.note("CW8127", Where(file, 1, 1), what, "Reserve them there, or take the column `address` out")


class _Places:
    """Lines and columns of a text by position."""

    def __init__(self, text: str, file: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._file = file

    def at(self, position: int) -> Where:
        line = bisect_right(self._starts, position)
        return Where(self._file, line, position - self._starts[line - 1] + 1)
