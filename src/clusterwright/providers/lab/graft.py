"""Folders of the host for nodes that run already; their next boot binds them too.

Run as a program in a process of its own, because that moves itself into the node's namespace of mounts.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from clusterwright.providers.lab.command import run
from clusterwright.providers.lab.machine import Bind, Machine, leader_pid

_OPEN_TREE, _MOVE_MOUNT = 428, 429
"""Linux, include/uapi/asm-generic/unistd.h: the same numbers on every architecture, since 5.2."""
_CLONE, _EMPTY_PATH, _MOUNTS, _HERE = 0x1, 0x4, 0x00020000, -100
"""OPEN_TREE_CLONE, MOVE_MOUNT_F_EMPTY_PATH, CLONE_NEWNS, AT_FDCWD."""


def graft(machine: Machine, binds: Iterable[Bind]) -> None:
    """Bind what a running node has not, such as the shares that its cluster was given since it booted."""
    leader = leader_pid(machine)
    if leader is None:
        return
    there = {line.split()[4] for line in Path(f"/proc/{leader}/mountinfo").read_text().splitlines()}
    absent = [word for bind in binds if bind.target not in there for word in (str(bind.source), bind.target)]
    if absent:
        run([sys.executable, "-m", __name__, str(leader), *absent])


def _main(leader: str, words: list[str]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)

    def checked(result: int) -> int:
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    trees = [
        (checked(libc.syscall(_OPEN_TREE, _HERE, source.encode(), _CLONE)), target)
        for source, target in _pairs(words)
    ]
    with Path(f"/proc/{leader}/ns/mnt").open("rb") as node:
        checked(libc.setns(node.fileno(), _MOUNTS))
    for tree, target in trees:
        Path(target).mkdir(parents=True, exist_ok=True)
        checked(libc.syscall(_MOVE_MOUNT, tree, b"", _HERE, target.encode(), _EMPTY_PATH))


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(words[::2], words[1::2], strict=True)


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2:])
