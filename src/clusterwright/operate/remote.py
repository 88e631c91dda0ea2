"""Commands on a node, over the same SSH that converge uses."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from clusterwright.converge.target import Target


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command on a node gave. `code` 255 means that SSH itself failed."""

    code: int
    output: str
    error: str


def run_on(target: Target, command: str, *, timeout: float = 30, stdin: str | None = None) -> Answer:
    """Run a shell command on the node; never raises for its exit status or for a node that is gone."""
    argv: Sequence[str] = [*target.ssh_argv(), command]
    try:
        done = subprocess.run(
            argv, input=stdin or "", capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return Answer(255, "", f"no answer within {timeout:g} s")
    return Answer(done.returncode, done.stdout, done.stderr)
