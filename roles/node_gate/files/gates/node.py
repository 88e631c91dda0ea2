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


class Unseen(Exception):
    """A gate that could not look, because of what another gate names."""


class Node:
    """This machine as the gates see it. `root` is another directory only in tests."""

    def __init__(self, root: str, timeout: float):
        self.root, self.timeout, self.planned = root, timeout, {}
        self.known: dict = {}  # what several gates ask for is asked once

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

    def mounted(self, point: str) -> bool:
        return any(line.split()[1:2] == [point] for line in self.read("/proc/self/mounts").splitlines())

    def keep(self, file: str, content: str) -> None:
        """Left in /run/clusterwright, whole or not at all."""
        self.place(f"/run/clusterwright/{file}", content)

    def place(self, absolute: str, content: str) -> None:
        """A file, whole or not at all."""
        path = self.path(absolute)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(content)
        temporary.replace(path)

    @property
    def hardware(self) -> dict:
        return self.planned["hardware"]

    @property
    def stack(self) -> dict:
        """The locked components that this node has, by name."""
        return self.planned.get("stack", {})

    def file_systems(self, kind: str) -> dict:
        """The planned parallel file systems of a kind, by mount point."""
        rows = self.planned.get("file_systems", {})
        return {path: row for path, row in sorted(rows.items()) if row["kind"] == kind}

    @property
    def health(self) -> dict:
        """What the catalog knows of this GPU model: links, PCI bus, what each Xid asks for."""
        return self.planned.get("gpu_health", {})
