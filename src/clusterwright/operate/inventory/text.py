"""Bytes of a list to text, whatever a spreadsheet saved them as."""

from __future__ import annotations

import codecs
from pathlib import Path

from clusterwright.finding import Where, refuse
from clusterwright.operate.inventory.entry import Listed

MAX_BYTES = 64 * 2**20
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read(path: Path, into: Listed) -> str:
    """The file's text with plain line ends. Raises Refused where it cannot be read at all."""
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        what = f"it cannot be read ({error.strerror})"
        raise refuse("CW8116", Where(str(path)), what, "Check the path and its permissions") from None
    if len(content) > MAX_BYTES:
        raise refuse("CW8116", Where(str(path)), "larger than 64 MiB", "Is this the right file?")
    return _decoded(content, str(path), into).replace("\r\n", "\n").replace("\r", "\n")


def _decoded(content: bytes, file: str, into: Listed) -> str:
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), None) or _wide(content)
    try:
        return content.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        where = Where(file, before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
        what = (
            f"the byte 0x{content[error.start]:02x} is not {encoding or 'UTF-8'}; it is read as Windows-1252"
        )
        into.doubt("CW8117", where, what, "Look at names with accents, or save the file as UTF-8")
        return content.decode("cp1252", errors="replace")


def _wide(content: bytes) -> str | None:
    """UTF-16 without its mark: every other byte of plain text is zero."""
    start = content[:400]
    if not start or start.count(0) < len(start) // 3:
        return None
    return "utf-16-le" if start[1::2].count(0) >= start[::2].count(0) else "utf-16-be"
