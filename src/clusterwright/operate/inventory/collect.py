"""Several lists of the same machines come to one line for each node; what they do not agree on is told."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clusterwright.finding import Finding, Where, refuse
from clusterwright.operate.inventory.entry import Cell, Entry, Listed, some
from clusterwright.operate.inventory.leases import is_dnsmasq, is_isc, read_dnsmasq, read_isc
from clusterwright.operate.inventory.table import read_table
from clusterwright.operate.inventory.text import read
from clusterwright.spec.mac import mac
from clusterwright.spec.machines import COLUMNS, CREDENTIALS, address, fingerprint
from clusterwright.spec.nodeset import fold

_BMC = re.compile(
    r"(?:bmc|ipmi|idrac|ilo|oob|xcc)[-_](?P<of>.+)|(?P<has>.+?)[-_](?:bmc|ipmi|idrac|ilo|oob|xcc)"
)
_NODE = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
_SERIAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+:#-]{0,63}")
_WANTED = ("mac", "bmc_address", "serial")
_SINGLE = ("mac", "bmc_mac", "address", "bmc_address", "serial")


@dataclass(slots=True)
class Found:
    """A machine as all lists together tell it."""

    node: str
    where: Where
    cells: dict[str, Cell] = field(default_factory=dict)

    def text(self, column: str) -> str:
        return self.cells[column].text if column in self.cells else ""


@dataclass(frozen=True, slots=True)
class Imported:
    """Every machine in the order in which it first came up, and everything that is missing or doubtful."""

    machines: tuple[Found, ...]
    findings: tuple[Finding, ...]

    def text(self) -> str:
        """A file of machines; columns in which nothing stands are left out."""
        used = [column for column in COLUMNS[1:] if any(one.text(column) for one in self.machines)]
        lines = [",".join(("node", *used))]
        lines += [",".join((one.node, *map(one.text, used))) for one in self.machines]
        return "\n".join(lines) + "\n"


def collect(lists: Sequence[Path | Listed]) -> Imported:
    """Read them all. Raises Refused where one cannot be read, or no machine has a name."""
    listed = Listed()
    for one in lists:
        if isinstance(one, Path):
            _read(one, listed)
        else:
            listed.entries += one.entries
            listed.findings += one.findings
    collecting = _Collecting(listed)
    for entry in listed.entries:
        collecting.take(entry)
    machines = collecting.finish()
    if not machines:
        first = lists[0]
        where = Where(str(first)) if isinstance(first, Path) else first.entries[0].where
        remedy = "Name each machine in a column `name` (`-` and blanks are no names), or with --names"
        raise refuse("CW8118", where, "no line has the name of a machine", remedy)
    return Imported(machines, tuple(sorted(listed.findings, key=lambda one: (one.where, one.code))))


def _read(path: Path, listed: Listed) -> None:
    text = read(path, listed)
    if is_dnsmasq(text):
        read_dnsmasq(text, str(path), listed)
    elif is_isc(text):
        read_isc(text, str(path), listed)
    else:
        read_table(text, str(path), listed)


class _Collecting:
    def __init__(self, listed: Listed) -> None:
        self._listed = listed
        self._found: dict[str, Found] = {}
        self._nameless: list[tuple[Entry, dict[str, Cell]]] = []
        self._renamed: list[tuple[Cell, str]] = []

    def take(self, entry: Entry) -> None:
        """A line with a name goes to its node; one without waits for a line with the same MAC or serial."""
        cells = dict(self._readable(entry))
        name, of_bmc = self._name(entry)
        if of_bmc or entry.of_bmc:
            cells = {f"bmc_{key}" if key in ("mac", "address") else key: cell for key, cell in cells.items()}
        if name:
            self._join(name, entry, cells)
        elif "node" not in entry.cells:
            self._nameless.append((entry, cells))

    def finish(self) -> tuple[Found, ...]:
        self._join_nameless()
        if self._renamed:
            cell, name = self._renamed[0]
            what = f"{len(self._renamed)} names are written as hosts: '{cell.text}' is {name}"
            self._listed.note("CW8122", cell.where, what, "Nothing to do, if these are the nodes' names")
        machines = tuple(self._found.values())
        self._shared(machines)
        self._missing(machines)
        return machines

    def _readable(self, entry: Entry) -> Iterable[tuple[str, Cell]]:
        for column, cell in entry.cells.items():
            if column == "node":
                continue
            value, rest = _READ[column](cell.text)
            if value is None:
                shown = "this" if column == "bmc_credentials" else f"'{cell.text[:40]}'"
                what = f"{shown} is no {column.replace('_', ' ')}, and is not taken"
                self._listed.doubt(
                    "CW8121", cell.where, what, "Mend it, or write it into the new file by hand"
                )
            else:
                yield column, Cell(value, cell.where)
            if rest:
                what = f"more than one {column} in a cell: '{value}' is taken, and '{rest[:60]}' is not"
                self._listed.doubt("CW8121", cell.where, what, "Keep the one of the card that it boots from")

    def _name(self, entry: Entry) -> tuple[str | None, bool]:
        cell = entry.cells.get("node")
        if cell is None:
            return None, False
        plain = cell.text.lower().partition(".")[0].strip().replace("_", "-").replace(" ", "-")
        match = _BMC.fullmatch(plain)
        name = (match["of"] or match["has"]) if match else plain
        if not _NODE.fullmatch(name):
            what = f"'{cell.text[:40]}' cannot be the name of a node, and its line is not taken"
            remedy = "Give it a name of letters, digits and '-' that begins with a letter"
            self._listed.doubt("CW8122", cell.where, what, remedy)
            return None, False
        if name != cell.text and not match:
            self._renamed.append((cell, name))
        return name, bool(match)

    def _join(self, name: str, entry: Entry, cells: dict[str, Cell]) -> None:
        found = self._found.setdefault(name, Found(name, entry.where))
        for column, cell in cells.items():
            known = found.cells.setdefault(column, cell)
            if known.text != cell.text:
                what = f"the {column.replace('_', ' ')} of {name} is {cell.text} here"
                what += f", and {known.text} at {known.where}, which is taken"
                self._listed.doubt(
                    "CW8123", cell.where, what, "Look at the machine, and keep the one that is right"
                )

    def _join_nameless(self) -> None:
        holders = {
            (column, found.cells[column].text): found.node
            for found in self._found.values()
            for column in ("mac", "bmc_mac", "bmc_address", "serial")
            if column in found.cells
        }
        for entry, cells in self._nameless:
            known = {("mac" if key == "bmc_mac" else key, cell.text) for key, cell in cells.items()}
            known |= {("bmc_mac", cell.text) for key, cell in cells.items() if key == "mac"}
            matches = sorted({(holders[key], key[0]) for key in known if key in holders})
            if matches:
                node, column = matches[0]
                if column == "bmc_mac":
                    cells = {k if k.startswith("bmc") else f"bmc_{k}": cell for k, cell in cells.items()}
                self._join(node, entry, cells)
            elif _NODE.fullmatch(entry.called):
                self._join(entry.called, entry, cells)
            else:
                said = some(f"{key} {cell.text}" for key, cell in cells.items()) or "nothing"
                what = f"a machine without a name is not taken; of it is known: {said}"
                self._listed.doubt(
                    "CW8122", entry.where, what, "Name it, here or in another list with its MAC"
                )

    def _shared(self, machines: tuple[Found, ...]) -> None:
        """Values that can only be of one machine."""
        holders: dict[tuple[str, str], Found] = {}
        for found in machines:
            for column in _SINGLE:
                if column in found.cells:
                    cell = found.cells[column]
                    kind = column.removeprefix("bmc_")
                    holder = holders.setdefault((kind, cell.text), found)
                    if holder is not found:
                        what = f"{kind} {cell.text} of {found.node} is of {holder.node} too"
                        remedy = "Look at both machines; `validate` refuses it until one is mended"
                        self._listed.doubt("CW8124", cell.where, what, remedy)

    def _missing(self, machines: tuple[Found, ...]) -> None:
        for column in _WANTED:
            blank = [found for found in machines if column not in found.cells]
            if blank:
                names = fold(found.node for found in blank)
                shown = names if len(names) <= 80 else f"{names[:79]}…"
                of = f"{len(blank)} of {len(machines)} machines"
                what = f"no {column.replace('_', ' ')} is known of {of}: {shown}"
                remedy = "Fill it into the new file, or import another list that has it as well"
                self._listed.doubt("CW8125", blank[0].where, what, remedy)


def _mac(text: str) -> tuple[str | None, str]:
    """The first of several, and the others."""
    first, *rest = [part for part in re.split(r"[,;/\s]+", text) if part] or [""]
    return mac(first), " ".join(rest)


def _one(pattern: re.Pattern[str]) -> Callable[[str], tuple[str | None, str]]:
    return lambda text: (text if pattern.fullmatch(text) else None, "")


def _address(text: str) -> tuple[str | None, str]:
    first, *rest = [part for part in re.split(r"[,;\s]+", text) if part] or [""]
    return address(first), " ".join(rest)


def _unit(text: str) -> tuple[str | None, str]:
    """`12`, `12.0` as NetBox has half units, `U12`, `U12-U19`."""
    match = re.fullmatch(r"[uU]?0*(\d{1,2})(?:\.0)?(?:\s*-\s*[uU]?\d{1,2})?", text)
    return (match[1], "") if match else (None, "")


def _any(text: str) -> tuple[str | None, str]:
    return text, ""


_READ: dict[str, Callable[[str], tuple[str | None, str]]] = {
    "mac": _mac,
    "bmc_mac": _mac,
    "address": _address,
    "bmc_address": _address,
    "serial": _one(_SERIAL),
    "bmc_credentials": _one(re.compile(CREDENTIALS)),
    "bmc_certificate": lambda text: (fingerprint(text), ""),
    "rack": _any,
    "unit": _unit,
    "model": _any,
    "role": _any,
}
