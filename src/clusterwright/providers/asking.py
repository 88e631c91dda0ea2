"""Many questions to a cloud at once, each with its own time, and none that keeps the command from ending."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from clusterwright.checks.live.answer import Unanswered

_AT_ONCE = 12
_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Question:
    """`ask` returns the answer, or raises NoAnswer."""

    name: str
    permission: str
    """What it needs, for the case that it never comes back."""
    ask: Callable[[], Any]


class NoAnswer(Exception):
    """Raised by a question that the cloud did not answer."""

    def __init__(self, why: Unanswered) -> None:
        self.why = why
        super().__init__(why.words)


def ask_all(questions: Iterable[Question], *, seconds: float = _SECONDS) -> Mapping[str, Any]:
    """Answers by name of the question. What breaks otherwise is raised here.

    Threads are daemons: an interrupted command ends at once, whatever is still on its way.
    """
    asked = list(questions)
    waiting: SimpleQueue[Question] = SimpleQueue()
    for question in asked:
        waiting.put(question)
    told: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    for _ in range(min(_AT_ONCE, len(asked))):
        threading.Thread(target=_work, args=(waiting, told), daemon=True).start()
    return _collected(asked, told, time.monotonic() + seconds)


def _work(waiting: SimpleQueue[Question], told: SimpleQueue[tuple[str, Any]]) -> None:
    while True:
        try:
            question = waiting.get_nowait()
        except Empty:
            return
        try:
            told.put((question.name, question.ask()))
        except NoAnswer as none:
            told.put((question.name, none.why))
        except Exception as error:
            told.put((question.name, error))


def _collected(asked: list[Question], told: SimpleQueue[tuple[str, Any]], until: float) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    while len(found) < len(asked):
        try:
            name, answer = told.get(timeout=max(until - time.monotonic(), 0.001))
        except Empty:
            break
        if isinstance(answer, Exception):
            raise answer
        found[name] = answer
    late = (question for question in asked if question.name not in found)
    missing = {one.name: Unanswered("unreachable", one.permission, "no answer in time") for one in late}
    return {**found, **missing}


def under(prefix: str, answers: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answers to questions of one kind, `images.NAME`, by the rest of their names."""
    return {name.removeprefix(prefix): value for name, value in answers.items() if name.startswith(prefix)}
