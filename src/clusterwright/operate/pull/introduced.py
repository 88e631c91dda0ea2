"""Machines that nobody logs in to: their host keys, for which the cloud vouches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Where
from clusterwright.spec.nodeset import fold

Ask = Callable[[Mapping[str, str]], Mapping[str, str]]
"""From node → machine to node → host key, for those whose key the cloud knows by now."""


@dataclass(frozen=True, slots=True)
class Introduction:
    """How long to wait for machines to boot, and how often to ask, in seconds."""

    ask: Ask
    patience: float = 900.0
    pause: float = 10.0

    def host_keys(
        self, machines: Mapping[str, str], known: Mapping[str, str], report: Report
    ) -> Mapping[str, str]:
        """By node. `machines` is node → ID; those of `known` are not asked for.

        Raises Refused with every node that did not introduce itself."""
        found = {node: known[node] for node in machines if node in known}
        until = time.monotonic() + self.patience
        while missing := {node: machines[node] for node in machines if node not in found}:
            for node, key in sorted(self.ask(missing).items()):
                found[node] = key
                report(Event("nodes", "ok", "showed its host key", node))
            left = sorted({*missing} - {*found})
            if left and time.monotonic() > until:
                raise Refused([_silent(node, machines[node], self.patience) for node in left])
            if left:
                report(Event("nodes", "progress", "boots", fold(left)))
                time.sleep(self.pause)
        return found


def _silent(node: str, machine: str, patience: float) -> Finding:
    what = f"{machine} printed no SSH host key on its console in {patience:.0f} s"
    remedy = "Look at its console for how far it booted; `pulumi up` goes on once it has"
    return Finding("CW8056", Where(path=node), what, remedy)
