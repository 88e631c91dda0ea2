"""Commands of a page as a reader types them, and what the page shows of their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"^```console( \w+)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Typed:
    """A command of a page. In what it shows, `…` stands for anything."""

    command: str
    shown: tuple[str, ...]
    fails: bool


def typed(page: Path, kind: str = "") -> Iterator[Typed]:
    """Those in blocks of `console`, or of `console KIND`. `console fails` is for any page."""
    for said, block in _BLOCK.findall(page.read_text()):
        fails = said == " fails"
        if not fails and said.strip() != kind:
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            yield Typed(command, tuple(shown), fails)


def missing(shown: tuple[str, ...], output: str) -> list[str]:
    """Lines of the page that did not appear."""
    seen = [" ".join(line.split()) for line in output.splitlines()]
    patterns = {
        line: re.compile(re.escape(" ".join(line.split())).replace("…", ".*").replace(r"\ .*\ ", " .*"))
        for line in shown
        if line.strip() not in ("…", "")
    }
    return [line for line, pattern in patterns.items() if not any(map(pattern.fullmatch, seen))]
