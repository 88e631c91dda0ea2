"""The one versioned document between what builds machines and what configures them.

Everything to its right (render, bundle, converge, accept, operate) reads this and nothing else.
It holds references to keys, never keys.

Hardware stands once per machine type under `hardware`, and a node names its type: at 65,000 nodes the
document stays in the tens of megabytes instead of the hundreds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from clusterwright.catalog.hardware import Hardware

VERSION = 1


@dataclass(frozen=True, slots=True)
class Node:
    """One node, cloud-blind."""

    name: str
    pool: str
    roles: tuple[str, ...]
    site: str
    machine: str
    address: str
    """Empty where it is not planned and no machine has its name yet."""
    gpus: int
    """As jobs count them: instances (MIG), and GPUs that are whole."""
    features: tuple[str, ...]
    partitions: tuple[str, ...]
    rack: str | None
    block: str | None
    switches: tuple[str, ...]


@dataclass(frozen=True)
class Handoff:
    """The hand-off. Sections other than nodes and hardware are plain JSON objects of the published schema."""

    cluster: Mapping[str, Any]
    """`name`, `domain`, `users`, `surroundings`, `hooks`, `converge`."""
    site: Mapping[str, Any]
    """By name: `provider`, `network`, `place`, `simulated`; `boot` where machines boot over the network."""
    hardware: Mapping[str, Hardware]
    nodes: tuple[Node, ...]
    fabric: Mapping[str, Any]
    """`topology`, `nodes_per_leaf`, `block_size`."""
    storage: Mapping[str, Any]
    """`shares` by mount point; `sites`: by site, what its nodes mount in their place."""
    scheduler: Mapping[str, Any]
    """`release`, `partitions`, `accounts`, `options`, `accounting`, `rest`, `cgroup`, `config_overrides`,
    `mig`: instances by pool and minor of their GPU."""
    software: Mapping[str, Any]
    """`distribution`, `packages`, `slurm_repository`, `containers`, `images`, `monitoring`; the lock:
    `stacks` by pool, `repositories`."""
    machines: Mapping[str, Any] = field(default_factory=dict)
    """What tells own machines apart, by node: `mac`, `serial`, `bmc`. Empty where nobody wrote it down."""
    version: int = VERSION

    @property
    def name(self) -> str:
        return str(self.cluster["name"])

    @cached_property
    def by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes}

    def with_role(self, role: str) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if role in node.roles)

    def at(self, addresses: Mapping[str, str]) -> Handoff:
        """With these nodes at these addresses, which were not planned."""
        nodes = (replace(node, address=addresses.get(node.name, node.address)) for node in self.nodes)
        return replace(self, nodes=tuple(nodes)) if addresses else self

    def shares(self, site: str) -> Mapping[str, Mapping[str, Any]]:
        """What nodes of a site mount, by mount point."""
        own = self.storage.get("sites", {}).get(site, {})
        return {path: share for path, share in {**self.storage["shares"], **own}.items() if share is not None}

    def have_in_common(self, one: Node, other: Node, path: str = "/home") -> bool:
        """Whether what one node writes at a mount point is there on the other: sites may have their own."""
        own = self.storage.get("sites", {})
        if one.site == other.site or not any(path in own.get(node.site, {}) for node in (one, other)):
            return True
        here, there = self.shares(one.site).get(path), self.shares(other.site).get(path)
        # What is served has no name that says whose it is.
        return here is not None and here == there and here["kind"] != "served"

    @property
    def every_share(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """With their mount points, at whichever site they are mounted."""
        return tuple(
            (path, share)
            for rows in (self.storage["shares"], *self.storage.get("sites", {}).values())
            for path, share in sorted(rows.items())
            if share is not None
        )

    @property
    def entries(self) -> tuple[Node, ...]:
        """Nodes that Slurm can be asked from, the best first."""
        return (*self.with_role("login"), *self.with_role("controller"))

    def dumps(self) -> str:
        """The document: keys sorted, one line per node, so that a diff shows nodes."""
        apart = {"nodes", "machines"}
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in apart}
        plain["hardware"] = {machine: asdict(row) for machine, row in self.hardware.items()}
        sections = {name: _section(value) for name, value in plain.items()}
        sections["nodes"] = "[\n  " + ",\n  ".join(_line(_node_json(node)) for node in self.nodes) + "\n ]"
        if self.machines:
            rows = (f'"{name}": {_line(self.machines[name])}' for name in sorted(self.machines))
            sections["machines"] = "{\n  " + ",\n  ".join(rows) + "\n }"
        body = ",\n".join(f' "{name}": {text}' for name, text in sorted(sections.items()))
        return f"{{\n{body}\n}}\n"


def _section(value: object) -> str:
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, default=list)
    return text.replace("\n", "\n ")


def _node_json(node: Node) -> dict[str, Any]:
    return {one.name: getattr(node, one.name) for one in fields(node)}


def _line(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
