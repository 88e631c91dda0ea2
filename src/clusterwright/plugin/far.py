"""What the plugin needs of clusters that converge themselves, in its own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from clusterwright.event import Report


@dataclass(frozen=True, slots=True)
class FarCluster:
    """Machines that a cloud made, as the program that made them tells."""

    file: Path
    handoff: str
    """The document as text, with what only the cloud knew."""
    provider: str
    region: str
    bucket: str
    url: str
    """Where nodes find the bucket."""
    signer: str
    """The public key whose signature nodes trust."""
    machines: Mapping[str, str]
    """Node → ID of its machine."""
    host_keys: Mapping[str, str]
    """Node → the key that this very machine showed before."""
    builds: bool = False
    """Whether its machines are to become images, and not nodes."""
    before: str = ""
    """The hand-off that its nodes were accepted with last; empty when they never were."""
    groups: Mapping[str, str] = field(default_factory=dict)
    """Pool → group whose members are told the names of its nodes."""
    members: Mapping[str, str] = field(default_factory=dict)
    """Node → ID of the machine of a group that had its name last."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Of these machines, by node."""
    roll: int = 0
    """So many of a pool at a time give up their jobs; 0 leaves it as it was published."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How each node came out: `accepted`, or what it is instead and why."""

    nodes: Mapping[str, str]
    host_keys: Mapping[str, str]
    gates: str = ""
    """How the cluster as a whole came out: `accepted`, or each gate that failed; empty where none was run."""
    members: Mapping[str, str] = field(default_factory=dict)
    """Node → ID of the machine of a group that has its name."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Of these machines, by node."""

    @property
    def problem(self) -> str:
        """In words, a line for each node that is not accepted; empty when all are."""
        others = {node: state for node, state in sorted(self.nodes.items()) if state != ACCEPTED}
        found = [f"{node}: {state}" for node, state in others.items()]
        if not found and self.gates != ACCEPTED:
            found.append(self.gates or "the gates of the cluster were not run")
        return "\n".join(found)


ACCEPTED = "accepted"


class FarClusters(Protocol):
    """Clusters that are reached through their store."""

    def digest(self, file: Path) -> str:
        """Of everything but the hand-off that nodes become. Raises Refused with every finding."""

    def accept(self, cluster: FarCluster, report: Report) -> Acceptance:
        """Publish, and wait until every node said how it went."""

    def look(self, cluster: FarCluster) -> Acceptance:
        """What the nodes said last."""
