"""Blocking work beside the event loop, told to the engine and stopped by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from clusterwright.plugin.engine import Log, Progress

T = TypeVar("T")


class Working:
    """The work of one provider that is under way."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._all: set[Progress] = set()

    async def on(self, urn: str, timeout: float, work: Callable[[Progress], T]) -> T:
        """The work's answer. After `timeout` seconds, if not 0, it is told to stop, and ends as it will."""
        progress = Progress(self._log, urn)
        self._all.add(progress)
        ending = asyncio.ensure_future(asyncio.to_thread(work, progress))
        try:
            await asyncio.wait([ending], timeout=timeout or None)
            progress.stop()
            return await ending
        finally:
            self._all.discard(progress)

    def stop(self) -> None:
        """Ends each at its next event."""
        for progress in self._all:
            progress.stop()
