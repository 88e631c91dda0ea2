"""What all BMCs tell, at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Severity, Where
from clusterwright.operate.bmc.machine import Bmc, Seen
from clusterwright.operate.bmc.reach import AT_ONCE, differs, each, reach
from clusterwright.operate.own.harm import together


@dataclass(frozen=True)
class Status:
    """By node; one that did not answer has a finding, and is not in `machines`."""

    machines: Mapping[str, Seen]
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all answered, as the machines that are described."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)


def status(bmcs: Sequence[Bmc], report: Report, at_once: int = AT_ONCE) -> Status:
    def ask(bmc: Bmc) -> Seen:
        try:
            with reach(bmc) as way:
                seen = way.seen()
        except Refused as refused:
            report(Event("bmc", "unreachable", refused.findings[0].what, bmc.node))
            raise
        report(Event("bmc", "ok", seen.power, bmc.node))
        return seen

    found, findings = each(bmcs, ask, at_once)
    for bmc in bmcs:
        if seen := found.get(bmc.node):
            findings += filter(None, [differs(bmc, seen.serial), _ill(bmc, seen)])
    return Status(found, tuple(sorted(together(findings), key=lambda one: (one.where, one.code))))


def _ill(bmc: Bmc, seen: Seen) -> Finding | None:
    if seen.health not in ("warning", "critical"):
        return None
    what = f"its BMC calls its health {seen.health}{f': {seen.worst}' if seen.worst else ''}"
    told = Finding("CW8201", Where(path=bmc.node), what, "Look at the BMC's event log", Severity.WARNING)
    return (
        replace(told, remedy="Drain it, and look at its BMC's event log")
        if seen.health == "critical"
        else told
    )
