"""A file of a node, as the core renders it and a role places it."""

from __future__ import annotations

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
