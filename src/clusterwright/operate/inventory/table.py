"""A table with headings: CSV, semicolons or tabs, from a spreadsheet, NetBox or Kea."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from clusterwright.finding import Where, refuse
from clusterwright.operate.inventory.entry import Cell, Entry, Listed, some
from clusterwright.operate.inventory.headings import column
from clusterwright.spec.machines import SECRET, offset

_DELIMITERS = ",;\t|"
Row = tuple[list[str], int, str]
"""Cells, the line that they begin on, and the raw text."""
_LONGEST_ROW = 60
_HEAD_WITHIN = 20
"""Lines in which the headings are looked for: spreadsheets have titles above them."""
_BLANK = {"", "-", "--", "—", "–", "n/a", "na", "none", "null", "nil", "tbd", "tba", "?", "unknown", "#n/a"}


def read_table(text: str, file: str, into: Listed) -> None:
    """Take every line. Raises Refused where no line has headings that are known."""
    lines = text.split("\n")
    found = _headings(lines)
    if found is None:
        remedy = "Name the columns: name, mac, ip, bmc ip, serial; delimiters are , ; | and tabs"
        raise refuse("CW8118", Where(file, 1, 1), "no line has headings that are known", remedy)
    at, delimiter = found
    heads = [head.strip() for head in _cells(lines[at], delimiter) or []]
    if at and (above := [line for line in lines[:at] if line.strip() and not line.startswith("#")]):
        what = f"{len(above)} lines above the headings are not taken"
        into.note("CW8119", Where(file, 1, 1), what, "Look whether they say anything of machines")
    places = [offset(lines[at], delimiter, index) for index in range(len(heads))]
    chosen = _chosen(heads, [Where(file, at + 1, place) for place in places], into)
    for row, start, raw in _rows(lines[at + 1 :], at + 2, delimiter, file, into):
        _take(row, start, raw, delimiter, chosen, len(heads), file, into)


def _headings(lines: list[str]) -> tuple[int, str] | None:
    """The first line with two headings that are known, and the delimiter that shows most of them."""
    for at, line in enumerate(lines[:_HEAD_WITHIN]):
        scores = {}
        for delimiter in _DELIMITERS:
            cells = _cells(line, delimiter) or []
            known = {found[0] for cell in cells if (found := column(cell.strip()))}
            scores[delimiter] = len(known)
        best = max(_DELIMITERS, key=lambda one: scores[one])
        if scores[best] >= 2:
            return at, best
    return None


def _chosen(heads: list[str], where: list[Where], into: Listed) -> dict[str, int]:
    """Column → index of the heading that means it most surely."""
    best: dict[str, tuple[int, int]] = {}
    meant = [None if head in _of_interfaces(heads) else column(head) for head in heads]
    for index, head in enumerate(heads):
        if SECRET.search(head):
            what = f"the column '{head}' is not taken: it may hold passwords"
            remedy = (
                "Keep them in a secret store, and name that in `bmc_credentials`; remove them from this file"
            )
            into.doubt("CW8120", where[index], what, remedy)
        elif (found := meant[index]) and (found[0] not in best or found[1] < best[found[0]][0]):
            best[found[0]] = (found[1], index)
    taken = {index for _, index in best.values()}
    for name, (_, index) in best.items():
        others = [i for i in range(len(heads)) if i not in taken and (meant[i] or ("",))[0] == name]
        for other in others:
            what = f"'{heads[other]}' means the same as '{heads[index]}', and is not taken"
            into.doubt("CW8119", where[other], what, "Remove the one that is wrong")
    rest = [
        (index, head)
        for index, head in enumerate(heads)
        if head and not meant[index] and not SECRET.search(head)
    ]
    if rest:
        what = f"columns that are not taken: {some(head for _, head in rest)}"
        into.note(
            "CW8119", where[rest[0][0]], what, "Nothing to do, if they say nothing of a machine's identity"
        )
    return {name: index for name, (_, index) in best.items()}


def _of_interfaces(heads: list[str]) -> set[str]:
    """In a list of interfaces, NetBox's for instance, a name and a type are the interface's own."""
    words = {head.lower(): head for head in heads}
    is_such = "mgmt_only" in words or "management only" in words
    return {words[word] for word in ("name", "type") if word in words} if is_such else set()


def _rows(lines: list[str], first: int, delimiter: str, file: str, into: Listed) -> Iterator[Row]:
    """Rows with any cell; lines that begin with `#` are comments."""
    at = 0
    while at < len(lines):
        size = _size(lines, at)
        raw, start = "\n".join(lines[at : at + max(1, size)]), first + at
        at += max(1, size)
        if not raw.strip() or raw.lstrip().startswith("#"):
            continue
        if not size:
            where = Where(file, start, raw.index('"') + 1)
            into.doubt(
                "CW8121", where, "a quote is opened here and not closed; it is taken as a letter", "Close it"
            )
        row = _cells(raw, delimiter, quoted=bool(size))
        if row is None:
            into.doubt(
                "CW8121", Where(file, start, 1), "a cell is too long, and its line is not taken", "Look at it"
            )
        elif any(cell.strip() for cell in row):
            yield row, start, raw


def _size(lines: list[str], at: int) -> int:
    """How many lines a row has: a quoted cell may hold line ends. 0 where its quote is never closed."""
    quotes = 0
    for size, line in enumerate(lines[at : at + _LONGEST_ROW], 1):
        quotes += line.count('"')
        if quotes % 2 == 0:
            return size
    return 0


def _cells(raw: str, delimiter: str, *, quoted: bool = True) -> list[str] | None:
    reader = csv.reader(
        io.StringIO(raw, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
    )
    try:
        return next(reader, [])
    except csv.Error:
        return None


def _take(
    row: list[str],
    start: int,
    raw: str,
    delimiter: str,
    chosen: dict[str, int],
    heads: int,
    file: str,
    into: Listed,
) -> None:
    if len(row) > heads and any(cell.strip() for cell in row[heads:]):
        where = _place(file, start, raw, delimiter, heads)
        what = f"{len(row)} cells under {heads} headings; what is beyond them is not taken"
        into.doubt("CW8121", where, what, "Put cells with a delimiter in quotes")
    cells = {}
    for name, index in chosen.items():
        text = _stripped(row[index]) if index < len(row) else ""
        if text:
            cells[name] = Cell(text, _place(file, start, raw, delimiter, index))
    flag = cells.pop("mgmt_only", None)
    of_bmc = flag is not None and flag.text.lower() in {"true", "yes", "1", "ja"}
    into.entries.append(Entry(Where(file, start, 1), cells, of_bmc))


def _stripped(text: str) -> str:
    """Without blanks of any kind; what stands for nothing is nothing."""
    plain = text.replace("\u200b", "").replace("\ufeff", "").strip().strip("\u00a0'").strip()
    return "" if plain.lower() in _BLANK else plain


def _place(file: str, start: int, raw: str, delimiter: str, index: int) -> Where:
    before = raw[: offset(raw, delimiter, index) - 1]
    return Where(file, start + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1)
