"""The file of machines beside a description: a line for each node, with what tells it from its sisters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from clusterwright.finding import Finding, Where
from clusterwright.spec.document import shown
from clusterwright.spec.mac import mac

COLUMNS = ("node", "mac", "address", "bmc_address", "bmc_mac", "serial", "bmc_credentials", "bmc_certificate")
CREDENTIALS = (
    r"^(env:[A-Za-z_][A-Za-z0-9_]{0,60}"
    r"|file:[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*){0,8})$"
)
SECRET = re.compile(r"pass(word|wd|phrase)?|\bpwd\b|secret|token|api.?key|community", re.IGNORECASE)
"""Headings of what must not stand in such a file."""
MAX_BYTES = 16 * 2**20
_SERIAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+:#-]{0,63}")
_NODE = re.compile(r"[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Machine:
    """One line. An empty text is what nobody wrote down."""

    node: str
    mac: str = ""
    """Of the card that it boots from, as `0a:1b:2c:3d:4e:5f`."""
    address: str = ""
    bmc_address: str = ""
    bmc_mac: str = ""
    serial: str = ""
    bmc_credentials: str = ""
    """A reference: `env:NAME` or `file:PATH`."""
    bmc_certificate: str = ""
    """SHA-256 of the certificate that the BMC shows, 64 hexadecimal digits."""
    line: int = 0


@dataclass(frozen=True)
class MachineFile:
    """The lines of one file, and where each cell stands."""

    file: str
    rows: tuple[Machine, ...] = ()
    heads: tuple[str, ...] = ()
    lines: tuple[str, ...] = field(default=(), repr=False)

    def where(self, line: int, column: str = "node") -> Where:
        """The place of a cell; of its line where the file has no such column."""
        index = self.heads.index(column) if column in self.heads else 0
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return Where(self.file, line, offset(text, ",", index))

    @cached_property
    def by_node(self) -> Mapping[str, Machine]:
        """The first line of each node."""
        return {row.node: row for row in reversed(self.rows)}


def beside(description: Path, name: str) -> Path:
    """Where a description's file of machines is."""
    kept = kept_as(description, name)
    return kept if kept.exists() else description.with_name(name)


def kept_as(copy: Path, name: str) -> Path:
    """The file of machines of a copy: several copies of a description are kept in one folder."""
    return copy.with_name(f"{copy.stem}.{name}")


def offset(line: str, delimiter: str, index: int) -> int:
    """Column, counted from 1, at which the cell of this index begins."""
    quoted = seen = 0
    for position, char in enumerate(line):
        if seen == index:
            return position + 1
        if char == '"':
            quoted ^= 1
        seen += char == delimiter and not quoted
    return len(line) + 1


def read_machines(path: Path, named: str) -> tuple[MachineFile, list[Finding]]:
    """Read a file; `named` is what findings call it."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        text = content.decode("utf-8-sig")
    except OSError as error:
        what = f"the file of machines cannot be read ({error.strerror})"
        remedy = "`clusterwright inventory import` writes one; or remove `machines`"
        return MachineFile(named), [Finding("CW1670", Where(named), what, remedy)]
    except UnicodeDecodeError as error:
        where = Where(named, content[: error.start].count(b"\n") + 1, 1)
        remedy = "`clusterwright inventory import` reads other encodings, and writes UTF-8"
        return MachineFile(named), [Finding("CW1670", where, "the file of machines is not UTF-8", remedy)]
    if len(content) > MAX_BYTES:
        remedy = "Is this the right file? 65,536 nodes take a third of that"
        return MachineFile(named), [Finding("CW1670", Where(named), "larger than 16 MiB", remedy)]
    return parse_machines(text, named)


def parse_machines(text: str, named: str) -> tuple[MachineFile, list[Finding]]:
    """The lines of a text, and everything in it that cannot be used."""
    lines = tuple(re.split("\r\n|\r|\n", text))
    first = next((at for at, line in enumerate(lines) if _is_told(line)), None)
    if first is None:
        remedy = f"Begin with the heads: {','.join(COLUMNS)}"
        return MachineFile(named), [Finding("CW1671", Where(named, 1, 1), "no line has the heads", remedy)]
    heads = tuple(head.strip() for head in _cells(lines[first]))
    empty = MachineFile(named, (), heads, lines)
    findings = list(_heads(empty, first + 1))
    if findings:
        return empty, findings
    rows = []
    for at, line in enumerate(lines[first + 1 :], first + 2):
        if _is_told(line):
            row, wrong = _row(empty, at, [cell.strip() for cell in _cells(line)])
            findings += wrong
            rows += [row] if row else []
    return MachineFile(named, tuple(rows), heads, lines), findings


def _is_told(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _cells(line: str) -> list[str]:
    import csv

    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell of more than 128 KiB: it is no name, MAC or address either
        return [line]


def _heads(file: MachineFile, line: int) -> Iterator[Finding]:
    for index, head in enumerate(file.heads):
        where = Where(file.file, line, offset(file.lines[line - 1], ",", index))
        if SECRET.search(head):
            remedy = "Remove it, change that password, and name where it is kept in `bmc_credentials`"
            yield Finding("CW1672", where, f"the column {shown(head)} would hold a secret", remedy)
        elif head not in COLUMNS:
            remedy = f"Known are: {', '.join(COLUMNS)}"
            yield Finding("CW1671", where, f"no column is called {shown(head)}", remedy)
        elif head in file.heads[:index]:
            yield Finding("CW1671", where, f"the column '{head}' is there twice", "Keep one of them")
    if "node" not in file.heads:
        where = Where(file.file, line, 1)
        yield Finding("CW1671", where, "there is no column 'node'", f"Known are: {', '.join(COLUMNS)}")


def _row(file: MachineFile, line: int, cells: list[str]) -> tuple[Machine | None, list[Finding]]:
    if len(cells) > len(file.heads):
        what = f"{len(cells)} cells under {len(file.heads)} heads"
        return None, [Finding("CW1673", Where(file.file, line, 1), what, "Put cells with a comma in quotes")]
    values, findings = dict(zip(file.heads, cells, strict=False)), []
    for column, text in values.items():
        known = _read(column, text)
        if known is None:
            # What stands in place of a reference may be the password itself.
            quoted = "this" if column == "bmc_credentials" else shown(text)
            what = f"{quoted} is no {_KINDS[column]}"
            findings.append(Finding("CW1673", file.where(line, column), what, _REMEDIES[column]))
        values[column] = known or ""
    return (Machine(**values, line=line) if values.get("node") else None), findings


def _read(column: str, text: str) -> str | None:
    """A cell in the one form of its kind; None where it has no such form. Only a node must be there."""
    if column == "node":
        return text if _NODE.fullmatch(text) else None
    if not text:
        return ""
    match column:
        case "mac" | "bmc_mac":
            return mac(text)
        case "address" | "bmc_address":
            return address(text)
        case "serial":
            return text if _SERIAL.fullmatch(text) else None
        case "bmc_certificate":
            return fingerprint(text)
        case _:
            return text if re.match(CREDENTIALS, text) else None


def fingerprint(text: str) -> str | None:
    """A SHA-256 in plain hexadecimal digits, however it is written; None for what is none."""
    plain = re.sub(r"^sha256[:= ]|(?<=[0-9a-f]{2})[: ](?=[0-9a-f]{2})", "", text.strip().lower())
    return plain if re.fullmatch(r"[0-9a-f]{64}", plain) else None


def address(text: str) -> str | None:
    """An IPv4 address without its prefix length; None for what is none."""
    from ipaddress import AddressValueError, IPv4Address

    try:
        return str(IPv4Address(text.partition("/")[0]))
    except AddressValueError:
        return None


_KINDS = {
    "node": "node name",
    "mac": "MAC address",
    "bmc_mac": "MAC address",
    "address": "IPv4 address",
    "bmc_address": "IPv4 address",
    "serial": "serial number",
    "bmc_credentials": "reference to credentials",
    "bmc_certificate": "SHA-256 of a certificate",
}
_REMEDIES = {
    "node": "Write one lower-case name as the description has it, for instance gpu001",
    "mac": "Write it as 0a:1b:2c:3d:4e:5f",
    "bmc_mac": "Write it as 0a:1b:2c:3d:4e:5f",
    "address": "Write it as 10.70.0.17",
    "bmc_address": "Write it as 10.71.0.17",
    "serial": "Write letters, digits and `._/+:#-`, 64 characters at most",
    "bmc_credentials": "Write `env:NAME` or `file:PATH`; a password never stands in this file",
    "bmc_certificate": "Write its 64 hexadecimal digits, as `clusterwright bmc status` tells them",
}
