"""One connection to a node that answers many questions, so that a gate costs no connection of its own."""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import IO, Any, Protocol

CONNECT_SECONDS = 15.0
# The others are ended for its sake, and say last that they were cancelled or exited.
_KILLED = re.compile(r"srun: error: \S+: tasks? \S+: (?!Exited|Killed|Terminated)")
_TAKEN = ("Requested nodes are busy", "Unable to allocate resources: Connection timed out")


class NoAnswer(Exception):
    """The node cannot be reached, or its connection broke."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command on a node did."""

    code: int
    output: str
    error: str
    seconds: float

    @property
    def complaint(self) -> str:
        """The most telling line of a failure: what killed the first task of srun's, else the last line."""
        lines = [line.strip() for line in (self.output + "\n" + self.error).splitlines() if line.strip()]
        killed = [line for line in lines if _KILLED.match(line)]
        return (killed[:1] or lines[-1:] or [f"exit status {self.code}"])[0]

    @property
    def taken(self) -> bool:
        """What srun and salloc say when `--immediate` ran out: another job was faster, nothing is wrong."""
        return any(words in self.error for words in _TAKEN)


@dataclass(frozen=True, slots=True)
class Clock:
    """How far a node's clock is ahead of the operator's, and what the round trip leaves uncertain."""

    offset: float
    round_trip: float


@cache
def program(name: str) -> str:
    """The text of a program that runs on nodes."""
    return resources.files("clusterwright.accept").joinpath("programs", f"{name}.py").read_text()


class Reached(Protocol):
    """A node that root can run a program on: `converge.target.Target` over SSH, or `Here`."""

    @property
    def name(self) -> str: ...

    def argv(self, command: str) -> list[str]:
        """The command line of a shell command that root runs there."""


@dataclass(frozen=True, slots=True)
class Here:
    """The node that this program runs on, as root."""

    name: str

    def argv(self, command: str) -> list[str]:
        return ["/bin/sh", "-c", f"exec {command}"]


class Session:
    """A context manager: `with Session(node) as session`. One request at a time."""

    def __init__(self, node: Reached) -> None:
        self._name = node.name
        text = program("agent").encode()
        start = f"import sys; exec(compile(sys.stdin.buffer.read({len(text)}), 'agent', 'exec'))"
        # A persistent SSH master inherits standard error and keeps it open: a pipe would never end.
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (lives as long as the session)
        self._process = subprocess.Popen(
            node.argv(f'python3 -c "{start}"'),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._selector = selectors.DefaultSelector()
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._buffer = b""
        try:
            self._send(text)
        except NoAnswer:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._selector.close()
        self._process.kill()
        self._process.wait()
        self._stdout.close()
        with suppress(BrokenPipeError):
            self._stdin.close()
        self._errors.close()

    def clock(self) -> Clock:
        """The best of three: the shortest round trip says most."""
        return min((self._one_clock() for _ in range(3)), key=lambda clock: clock.round_trip)

    def run(
        self,
        *argv: str,
        user: str = "",
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        timeout: float = 30.0,
    ) -> Ran:
        """Run a program on the node, as root or as a user with that user's groups and home."""
        request = {
            "do": "run",
            "argv": argv,
            "user": user,
            "stdin": stdin,
            "env": dict(env or {}),
            "timeout": timeout,
        }
        return Ran(**self._ask(request, timeout + CONNECT_SECONDS))

    def _one_clock(self) -> Clock:
        asked, started = time.time(), time.monotonic()
        answer = self._ask({"do": "clock"}, CONNECT_SECONDS)
        round_trip = time.monotonic() - started
        return Clock(answer["time"] - (asked + round_trip / 2), round_trip)

    def _ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        self._send(json.dumps(request).encode() + b"\n")
        line = self._line(time.monotonic() + timeout)
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise NoAnswer(f"{self._name} answered {line[:80]!r}") from error
        return answer

    def _send(self, data: bytes) -> None:
        try:
            self._stdin.write(data)
            self._stdin.flush()
        except OSError as error:
            raise NoAnswer(self._complaint()) from error

    def _line(self, deadline: float) -> bytes:
        while b"\n" not in self._buffer:
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not self._selector.select(remaining):
                raise NoAnswer(f"no answer in time ({self._complaint()})")
            piece = os.read(self._stdout.fileno(), 1 << 16)
            if not piece:
                raise NoAnswer(self._complaint())
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _complaint(self) -> str:
        with suppress(subprocess.TimeoutExpired):  # its last words come just before it ends
            self._process.wait(1.0)
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else "connection closed"
