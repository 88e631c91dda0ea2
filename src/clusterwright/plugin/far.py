"""What the plugin needs of clusters that converge themselves, in its own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    before: str = ""
    """The hand-off that its nodes were accepted with last; empty when they never were."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How each node came out: `accepted`, or what it is instead and why."""

    nodes: Mapping[str, str]
    host_keys: Mapping[str, str]

    @property
    def problem(self) -> str:
        """In words, a line for each node that is not accepted; empty when all are."""
        others = {node: state for node, state in sorted(self.nodes.items()) if state != ACCEPTED}
        return "\n".join(f"{node}: {state}" for node, state in others.items())


ACCEPTED = "accepted"


class FarClusters(Protocol):
    """Clusters that are reached through their store."""

    def digest(self, file: Path) -> str:
        """Of everything but the hand-off that nodes become. Raises Refused with every finding."""

    def accept(self, cluster: FarCluster, report: Report) -> Acceptance:
        """Publish, and wait until every node said how it went."""

    def look(self, cluster: FarCluster) -> Acceptance:
        """What the nodes said last."""
