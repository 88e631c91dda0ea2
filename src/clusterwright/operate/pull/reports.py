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

    @property
    def drains(self) -> bool:
        """Whether its jobs are waited for."""
        return self.state == "waiting" and self.cause.startswith("drains: ")

    @property
    def begun(self) -> bool:
        """Whether it is on its way, and waits for no other node any more."""
        return self.drains or self.state in ("working", "rebooting", "accepted")


@dataclass
class Reports:
    """The reports of a store. One is read, and its signature checked, when it is new."""

    store: Store
    host_keys: Mapping[str, str]
    _known: dict[str, tuple[str, NodeReport | None]] = field(default_factory=dict)

    def now(self) -> Mapping[str, NodeReport]:
        """By node, what it said last; without those that said nothing that they signed."""
        there = {name: row for name, row in self.store.reported().items() if name in self.host_keys}
        for name, version in there.items():
            if name not in self._known or self._known[name][0] != version:
                self._known[name] = version, self._read(name, self.store.report(name))
        found = {name: self._known[name][1] for name in there}
        return {name: report for name, report in found.items() if report}

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
