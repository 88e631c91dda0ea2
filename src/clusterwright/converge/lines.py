"""What a program writes, while it runs."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence


def lines(argv: Sequence[str]) -> Iterator[str]:
    """Line after line; it is ended when its reader stops asking."""
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace"
    ) as program:
        assert program.stdout is not None
        try:
            for line in program.stdout:
                yield line.rstrip("\n")
        finally:
            program.terminate()
