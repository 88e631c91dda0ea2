"""Commands on a node, over the same SSH that converge uses."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass

from clusterwright.converge.target import Target


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command on a node gave. `code` 255 means that SSH itself failed."""

    code: int
    output: str
    error: str


def run_on(target: Target, command: str, *, timeout: float = 30) -> Answer:
    """Run a shell command on the node; never raises for its exit status or for a node that is gone."""
    argv = [*target.ssh_argv(), command]
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
        except subprocess.TimeoutExpired:
            return Answer(255, "", f"no answer within {timeout:g} s")
        errors.seek(0)
        return Answer(done.returncode, done.stdout, errors.read())
