"""What nodes say of themselves, each under the signature of the host key that SSH knows it by."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from clusterwright.bundle.pointer import REPORT_NAMESPACE
from clusterwright.converge.target import Target
from clusterwright.operate.pull.signing import signed_by
from clusterwright.operate.pull.store import Store

State = Literal["accepted", "failed", "refused", "waiting", "working", "rebooting"]


@dataclass(frozen=True, slots=True)
class NodeReport:
    """One node's last words. `digest` is of what it speaks about."""

    node: str
    serial: int
    digest: str
    state: State
    cause: str
    changed: int
    seconds: float
    cpu_seconds: float
    """Of the agent and everything that it ran; daemons that systemd started for it are their own."""
    at: float


@dataclass
class Reports:
    """The reports of a store; a signature is checked once."""

    store: Store
    host_keys: Mapping[str, str]
    _known: dict[str, tuple[str, NodeReport | None]] = field(default_factory=dict)

    def of(self, node: str) -> NodeReport | None:
        """None when there is none, or none that this node signed."""
        text = self.store.report(node)
        if node not in self._known or self._known[node][0] != text:
            self._known[node] = text, self._read(node, text)
        return self._known[node][1]

    def _read(self, node: str, text: str) -> NodeReport | None:
        signed = signed_by(text, self.host_keys.get(node, ""), REPORT_NAMESPACE) if text else None
        if signed is None:
            return None
        try:
            body = json.loads(signed)
            row = {name: body[name] for name in NodeReport.__slots__}
        except (ValueError, KeyError, TypeError):
            return None
        return NodeReport(**row) if row["node"] == node else None


def host_keys(targets: Mapping[str, Target]) -> Mapping[str, str]:
    """By node, the host key that SSH is to see there."""
    found: dict[str, str] = {}
    for file in {target.known_hosts_file for target in targets.values()}:
        for line in file.read_text().splitlines():
            names, _, key = line.partition(" ")
            found |= {name: key for name in names.split(",") if name in targets}
    return found
