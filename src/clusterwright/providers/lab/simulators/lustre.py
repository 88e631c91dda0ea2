"""lctl and lfs of a Lustre client, as far as they tell of the client itself: nothing is mounted in a lab."""

from __future__ import annotations

from collections.abc import Sequence

from .node import Answer, Node


def lctl(node: Node, arguments: Sequence[str]) -> Answer:
    """`--version`, `get_param version`, `list_nids`."""
    words = list(arguments)
    if words[:1] == ["--version"]:
        return Answer(f"lctl {node.installed} (simulated)\n")
    if node.module("lustre") is None:
        return Answer(error="error: get_param: param_path 'version': No such file or directory\n", status=2)
    if words[:1] == ["get_param"] and words[-1] == "version":
        told = node.module("lustre") or ""
        return Answer(f"{told}\n" if "-n" in words else f"version={told}\n")
    if words[:1] == ["list_nids"]:
        return Answer(f"{node.name}@tcp\n")
    return Answer(error=f"the simulated lctl does not know: {' '.join(words)}\n", status=1)


def lfs(node: Node, arguments: Sequence[str]) -> Answer:
    """`--version`; everything else needs a mounted file system, which no lab node has."""
    if list(arguments[:1]) == ["--version"]:
        return Answer(f"lfs {node.installed} (simulated)\n")
    return Answer(error="lfs: no Lustre file system is mounted on this simulated client\n", status=1)
