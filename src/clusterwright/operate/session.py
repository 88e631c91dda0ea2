"""A shell or a command on a node, as `ssh` itself: its own terminal, its own exit status."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from clusterwright.operate.cluster import Cluster


def ssh_argv(
    cluster: Cluster, node: str | None, command: Sequence[str], user: str | None = None
) -> list[str]:
    """The command line to execute; without a node, the one that users log in to."""
    name = cluster.node(node) if node else cluster.entry()
    cluster.reach(name)
    target = cluster.targets[name]
    argv = target.ssh_argv()
    if user:
        become = [] if target.user == "root" else ["sudo", "--non-interactive"]
        words = [
            *become,
            "runuser",
            "--login",
            user,
            *(["--command", shlex.join(command)] if command else []),
        ]
        return [*argv[:-1], *([] if command else ["-t"]), argv[-1], shlex.join(words)]
    return [*argv, *([shlex.join(command)] if command else [])]
