"""Colour, where a person looks at a terminal and wants it."""

from __future__ import annotations

import os
from typing import TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}


def is_coloured(stream: TextIO) -> bool:
    # https://no-color.org: any value but the empty one turns colour off.
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, stream: TextIO) -> str:
    """`style`: names such as `bold red`."""
    if not text or not is_coloured(stream):
        return text
    codes = ";".join(_CODES[name] for name in style.split())
    return f"\033[{codes}m{text}\033[0m"
