"""Commands on a node: over the same SSH that converge uses, or through the door that a cloud has."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from typing import Protocol


class Reached(Protocol):
    """A node, and the way to it."""

    @property
    def name(self) -> str: ...

    def argv(self, command: str) -> list[str]:
        """The command line of a shell command that root runs there."""


KNOCK_SECONDS = 20.0
"""So long a way to a node may take to open; through a tunnel it is some seconds."""
NO_ANSWER = 255
"""Exit status of SSH where it failed itself."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command on a node gave."""

    code: int
    output: str
    error: str


def run_on(target: Reached, command: str, *, timeout: float = 30) -> Answer:
    """Run a shell command as root on the node; never raises for its exit status, or a node that is gone."""
    argv = target.argv(command)
    # A file, not a pipe: an SSH master that stays behind inherits standard error and would keep a pipe open.
    with tempfile.TemporaryFile(mode="w+") as errors:
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except FileNotFoundError:
            return Answer(NO_ANSWER, "", f"{argv[0]} is not installed here")
        except subprocess.TimeoutExpired:
            return Answer(NO_ANSWER, "", f"no answer within {timeout:g} s")
        errors.seek(0)
        return Answer(done.returncode, done.stdout, errors.read())
