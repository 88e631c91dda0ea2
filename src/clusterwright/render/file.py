"""A file of a node, as the core renders it and a role places it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


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

    def is_for(self, roles: Collection[str], pool: str) -> bool:
        """Whether a node gets it."""
        return bool({*self.roles} & {*roles}) and (not self.pools or pool in self.pools)
