"""Run commands on a terminal and draw what stood on the screen at the end, as SVG."""

from __future__ import annotations

import io
import os
import pty
import re
import struct
import sys
import termios
from fcntl import ioctl
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

COLUMNS, ROWS = 112, 40
_ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")
_WEB_FONT = re.compile(r"@font-face \{\{.*?\}\}", re.DOTALL)


def main() -> int:
    target, *commands = sys.argv[1:]
    screen: list[str] = []
    for command in commands:
        code, output = _run(command)
        screen += [f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m", *_settled(output), ""]
        if code:
            sys.stderr.write(f"{command}: exit {code}\n")
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi("\n".join(screen[:-1])))
    # Without the font from the web that rich's own format fetches: a picture asks nothing of the network.
    svg = console.export_svg(
        title="clusterwright", code_format=_WEB_FONT.sub("", CONSOLE_SVG_FORMAT), unique_id="clusterwright"
    )
    Path(target).write_text(svg.replace("<svg ", '<svg xml:space="preserve" ', 1))
    return 0


def _run(command: str) -> tuple[int, str]:
    """Exit code and everything that was written to the terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp("sh", ["sh", "-c", command])
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    written = bytearray()
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux says EIO when the other side is gone
            break
        if not chunk:
            break
        written += chunk
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), written.decode(errors="replace")


def _settled(output: str) -> list[str]:
    """The lines as they stand in the end: a live view goes up and writes over what it wrote before."""
    lines, row = [""], 0
    for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z]|\r|\n)", output):
        move = _ESCAPE.fullmatch(part)
        if part == "\n":
            row += 1
        elif move and move[2] == "A":
            row = max(0, row - int(move[1] or 1))
        elif part == "\r" or (move and move[2] == "K"):
            # Whoever returns to the start of a line or erases it writes the whole line again.
            if move:
                lines[row] = ""
        elif not move or move[2] == "m":
            lines[row] += part
        while len(lines) <= row:
            lines.append("")
    while lines and not _ESCAPE.sub("", lines[-1]).strip():
        lines.pop()
    return lines


if __name__ == "__main__":
    sys.exit(main())
