"""The firewall of the description: what the kernel filters is what was placed and confirmed."""

from __future__ import annotations

from gates.node import Node, Unmet

PROGRAM = "/usr/lib/clusterwright/firewall"


def firewall(node: Node) -> str:
    """A firewall that somebody flushed lets everything in, and nothing else would notice."""
    status, said = node.run(str(node.path(PROGRAM)), "check")
    if status:
        remedy = "Find who changed it, and run `clusterwright up`: it loads the rules again"
        raise Unmet("the rules of the description, loaded", said, remedy)
    return said
