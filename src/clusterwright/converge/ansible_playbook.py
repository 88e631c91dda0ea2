"""ansible-playbook as a program that ends with whoever started it, and takes its workers with it.

Killed, it would go on beside the next run. Ansible itself tells its workers of a signal, but not one that it
is just forking, and nobody tells them where it is killed for good. Run by its path; imports nothing of ours.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_forks = 0
"""The process that forks at this moment."""


def _end_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


def _before_fork() -> None:
    global _forks
    _forks = os.getpid()


def run() -> None:
    own = os.getpid()
    _end_with(os.getppid())
    os.register_at_fork(before=_before_fork, after_in_child=lambda: _end_with(own) if _forks == own else None)
    from ansible.cli.playbook import main  # type: ignore[import-untyped]  # Ansible has no types

    sys.argv[0] = "ansible-playbook"
    sys.exit(main())


if __name__ == "__main__":
    run()
