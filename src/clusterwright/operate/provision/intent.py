"""What each machine needs to become ready, and what is in the way of that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from clusterwright.finding import Finding, Severity
from clusterwright.handoff import Node
from clusterwright.operate.bmc.power import look as look_at
from clusterwright.operate.bmc.site import Bmcs
from clusterwright.operate.own.site import OwnSite
from clusterwright.operate.provision.begun import Phase

Step = Literal["nothing", "bootstrap", "start", "restart"]


@dataclass(frozen=True)
class Intent:
    """By node. One whose BMC gave no answer has a finding, and no step."""

    nodes: tuple[Node, ...]
    steps: Mapping[str, Step]
    power: Mapping[str, str] = field(default_factory=dict)
    """Of those that are not ready."""
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every machine can be begun with."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)

    def of(self, *steps: Step) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if self.steps.get(node.name) in steps)


def intent(
    site: OwnSite,
    bmcs: Bmcs,
    nodes: Sequence[Node],
    port: int,
    begun: Mapping[str, Phase],
    anew: Collection[str] = (),
) -> Intent:
    """Nothing is changed by looking. BMCs of machines that are ready are not asked. `anew`: those whose disks
    are to be written, ready or not."""
    up = site.answering(nodes, port)
    ready = site.opened({*up} - {name for name in anew if name not in begun}, port)
    looked = look_at([bmcs.known[node.name] for node in nodes if node.name not in ready])
    steps: dict[str, Step] = dict.fromkeys(ready, "nothing")
    for name, power in looked.states.items():
        steps[name] = _step(power, begun.get(name), answers=name in up)
    return Intent(tuple(nodes), steps, looked.states, looked.findings)


def _step(power: str, begun: Phase | None, *, answers: bool) -> Step:
    if power == "off":
        return "start"
    if begun == "starting" or (begun == "late" and answers):
        return "bootstrap"
    return "restart"
