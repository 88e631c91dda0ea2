"""A shell or a command on a node, as `ssh` itself: its own terminal, its own exit status."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from clusterwright.finding import Where, refuse
from clusterwright.operate.cluster import Cluster


def ssh_argv(
    cluster: Cluster, node: str | None, command: Sequence[str], user: str | None = None
) -> list[str]:
    """The command line to execute; without a node, the one that users log in to."""
    name = cluster.nodes(node)[0] if node else cluster.entry()
    target = cluster.targets.get(name)
    if target is None:
        what, remedy = f"node {name} does not exist now", f"Run `clusterwright up {cluster.name}`"
        raise refuse("CW8013", Where(path=name), what, remedy)
    argv = target.ssh_argv()
    if user:
        words = ["runuser", "--login", user, *(["--command", shlex.join(command)] if command else [])]
        return [*argv[:-1], *([] if command else ["-t"]), argv[-1], shlex.join(words)]
    return [*argv, *([shlex.join(command)] if command else [])]
