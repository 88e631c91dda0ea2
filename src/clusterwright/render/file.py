"""A file of a node, as the core renders it and a role places it."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.handoff import Node


@dataclass(frozen=True, slots=True)
class NodeFile:
    """One whole-cluster file. `render --out DIR` writes it at DIR + path."""

    path: str
    """Absolute path on the node."""
    content: str
    roles: tuple[str, ...]
    """Nodes with any of these roles get it."""
    mode: int = 0o644
    owner: str = "root"
    group: str = "root"
    affects: tuple[str, ...] = ()
    """What a change needs, as `<unit>:reload` or `<unit>:restart`, for instance `slurmctld:reload`."""
    pools: tuple[str, ...] = ()
    """Of those, only the nodes of these pools; without any, of every pool."""

    node: str = ""
    """Only this one of them; without it, every one."""

    def is_for(self, node: Node) -> bool:
        """Whether a node gets it."""
        chosen = (not self.pools or node.pool in self.pools) and self.node in ("", node.name)
        return chosen and bool({*self.roles} & {*node.roles})
