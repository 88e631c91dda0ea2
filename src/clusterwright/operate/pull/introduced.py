"""Machines that nobody logs in to: their host keys, for which the cloud vouches, learnt once for each."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where
from clusterwright.operate.home import ClusterHome, write_atomically
from clusterwright.spec.nodeset import fold

_FILE = "host_keys.json"

Ask = Callable[[Mapping[str, str]], Mapping[str, str]]
"""From node → machine to node → host key, for those whose key the cloud knows by now."""


@dataclass(frozen=True, slots=True)
class Introduction:
    """How long to wait for machines to boot, and how often to ask, in seconds."""

    ask: Ask
    patience: float = 900.0
    pause: float = 10.0

    def host_keys(self, home: ClusterHome, machines: Mapping[str, str], report: Report) -> Mapping[str, str]:
        """By node. `machines` is node → ID. Raises Refused with every node that did not introduce itself."""
        known = {machines[node]: key for node, key in known_keys(home, machines).items()}
        until = time.monotonic() + self.patience
        while True:
            missing = {node: machine for node, machine in machines.items() if machine not in known}
            for node, key in sorted(self.ask(missing).items() if missing else ()):
                known[machines[node]] = key
                report(Event("nodes", "ok", "showed its host key", node))
            write_atomically(home.keys / _FILE, json.dumps(known, sort_keys=True), 0o600)
            missing = {node: machine for node, machine in missing.items() if machine not in known}
            if not missing:
                return {node: known[machine] for node, machine in machines.items()}
            if time.monotonic() > until:
                raise Refused([_silent(node, machine, self.patience) for node, machine in missing.items()])
            report(Event("nodes", "progress", "boots", fold(missing)))
            time.sleep(self.pause)


def _silent(node: str, machine: str, patience: float) -> Finding:
    what = f"{machine} printed no SSH host key on its console in {patience:.0f} s"
    remedy = "Look at its console for how far it booted; `pulumi up` goes on once it has"
    return Finding("CW8056", Where(path=node), what, remedy)


def known_keys(home: ClusterHome, machines: Mapping[str, str]) -> Mapping[str, str]:
    """By node, of the machines that introduced themselves before."""
    try:
        read = json.loads((home.keys / _FILE).read_text())
        return {node: str(read[machine]) for node, machine in machines.items() if machine in read}
    except (OSError, ValueError, TypeError):
        return {}
