"""A file of the network, whole: what broke off goes on where it ended."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

_SECONDS = 20.0
_TIMES = 4
"""So often in a row nothing may come before it is given up."""
_BLOCK = 1 << 20


class Unreachable(Exception):
    """It cannot be had; the message is why."""


def download(url: str, file: Path, tell: Callable[[int, int | None], None]) -> None:
    """Into `file`, unless it is there. `tell` hears bytes so far and of how many. Raises Unreachable."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    why, failed = "", 0
    while failed < _TIMES:
        before = _size(part)
        try:
            if _go_on(url, part, tell):
                part.rename(file)
                return
            why = f"it broke off after {_size(part)} bytes"
        except (OSError, ValueError, http.client.HTTPException) as error:
            why = str(getattr(error, "reason", None) or error)
            if isinstance(error, urllib.error.HTTPError) and error.code == 416:  # more than there is
                part.unlink(missing_ok=True)
        failed = 0 if _size(part) > before else failed + 1
    raise Unreachable(why)


def _go_on(url: str, part: Path, tell: Callable[[int, int | None], None]) -> bool:
    """Whether everything came."""
    have = _size(part)
    asked = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(asked, timeout=_SECONDS) as answer:
        if answer.status != 206:
            have = 0
        length = answer.headers.get("Content-Length")
        whole = have + int(length) if length else None
        with part.open("ab" if have else "wb") as stream:
            while block := answer.read(_BLOCK):
                stream.write(block)
                have += len(block)
                tell(have, whole)
    return whole is None or have == whole


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
