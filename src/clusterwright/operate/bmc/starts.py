"""How many machines start at once: supplies and fans draw most in the first seconds."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class Interrupted(Exception):
    """A person ended it; nobody sees this one."""


class Starts:
    """Every PDU and feed of a machine has room for it, or it waits, and holds none of them while it waits."""

    def __init__(self, limits: Mapping[str, Mapping[str, int]]) -> None:
        self._limits = limits
        self._over = False
        self._busy: Counter[str] = Counter()
        self._changed = threading.Condition()

    def stop(self) -> None:
        """Nobody waits any longer, and nobody starts."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        """That long, unless it is stopped."""
        with self._changed:
            if self._changed.wait_for(lambda: self._over, seconds):
                raise Interrupted

    @contextmanager
    def room(self, node: str) -> Iterator[None]:
        limits = self._limits.get(node, {})
        with self._changed:
            self._changed.wait_for(
                lambda: self._over or all(self._busy[on] < most for on, most in limits.items())
            )
            if self._over:
                raise Interrupted
            self._busy.update(limits.keys())
        try:
            yield
        finally:
            with self._changed:
                self._busy.subtract(limits.keys())
                self._changed.notify_all()
