"""This machine as the gates see it, and how a gate says no."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class Unmet(Exception):
    """A gate that did not pass: what was expected, what was seen, and what to do."""

    def __init__(self, expected, seen, remedy):
        super().__init__(expected, seen, remedy)
        self.expected, self.seen, self.remedy = expected, seen, remedy


class Node:
    """This machine as the gates see it. `root` is another directory only in tests."""

    def __init__(self, root: str, timeout: float):
        self.root, self.timeout, self.planned = root, timeout, {}

    def path(self, absolute: str) -> Path:
        return Path(self.root + absolute)

    def read(self, absolute: str) -> str:
        try:
            return self.path(absolute).read_text(errors="replace")
        except OSError:
            return ""

    def run(self, *argv: str) -> tuple[int, str]:
        """Exit status and output. What hangs in the kernel cannot be waited for and is left behind."""
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        except OSError as error:
            return 127, f"{argv[0]}: {error.strerror}"
        try:
            output, _ = process.communicate(timeout=self.timeout)
            return process.returncode, output.strip()
        except subprocess.TimeoutExpired:
            process.kill()
            return 124, f"{argv[0]}: no answer in {self.timeout:.0f} s"

    def keep(self, file: str, content: str) -> None:
        """Left in /run/clusterwright, whole or not at all."""
        folder = self.path("/run/clusterwright")
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{file}.{os.getpid()}"
        temporary.write_text(content)
        temporary.replace(folder / file)

    @property
    def hardware(self) -> dict:
        return self.planned["hardware"]
