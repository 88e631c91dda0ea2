"""What a cloud said to one question, or why it said nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question without an answer. Nothing is known then, neither good nor bad."""

    reason: Literal["permission", "throttled", "unreachable", "refused"]
    permission: str
    """What the question needs, in the cloud's own words: `ec2:DescribeInstances`."""
    words: str
    """What was said instead."""


Answer: TypeAlias = Unanswered | Asked | None
"""None where there was nothing to ask."""


def gaps(answer: object) -> Iterator[Unanswered]:
    """What is missing of an answer, which may be several by name."""
    if isinstance(answer, Unanswered):
        yield answer
    elif isinstance(answer, Mapping):
        yield from (one for one in answer.values() if isinstance(one, Unanswered))


def known(answer: Answer[Asked]) -> Asked | None:
    """The answer, if there is one."""
    return None if isinstance(answer, Unanswered) else answer
