"""Locks on a stack's state: one that its holder cannot give back any more is taken away."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from clusterwright.finding import Refused, Where, refuse

if TYPE_CHECKING:
    from clusterwright.providers.engine.stack import Locked, Stack

T = TypeVar("T")


def unlocked(stack: Stack, work: Callable[[], T]) -> T:
    """Do it; where only processes that are no more hold the stack, free it first. Raises Refused else."""
    from clusterwright.providers.engine.stack import Locked

    try:
        return work()
    except Locked as locked:
        if not _abandoned(locked):
            raise _held(stack.name, locked) from locked
        stack.unlock()
    return work()


def _abandoned(locked: Locked) -> bool:
    here = socket.gethostname()
    return bool(locked.holders) and all(host == here and not _runs(pid) for host, pid in locked.holders)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _held(name: str, locked: Locked) -> Refused:
    who = ", ".join(f"process {pid} on {host}" for host, pid in locked.holders) or "somebody"
    return refuse(
        "CW8080",
        Where(path=name),
        f"{who} works on the stack, or was killed while it did",
        "Wait until it has finished; where it runs no more, `pulumi cancel` frees the stack",
    )
