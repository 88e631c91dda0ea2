"""What machines boot from next, or from now on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Severity, Where
from clusterwright.operate.bmc.machine import Bmc, Device
from clusterwright.operate.bmc.reach import AT_ONCE, differs, each, reach
from clusterwright.operate.own.harm import together


def boot(
    bmcs: Sequence[Bmc], device: Device, report: Report, *, once: bool = False, at_once: int = AT_ONCE
) -> tuple[Mapping[str, str], list[Finding]]:
    """What each boots from afterwards, as its BMC says it. No machine is switched."""
    wanted = f"{device} once" if once else device

    def one(bmc: Bmc) -> str:
        with reach(bmc) as way:
            if other := differs(bmc, way.serial()):
                raise Refused([other])
            if (before := way.boots_from()) == wanted:
                report(Event("boot", "skipped", f"boots from {before} already", bmc.node))
                return before
            way.boot(device, once=once)
            now = way.boots_from()
        report(Event("boot", "changed", f"boots from {now}", bmc.node))
        return now

    found, findings = each(bmcs, one, at_once)
    for node, now in found.items():
        if now != wanted:
            what = f"its BMC took '{wanted}', and says that it boots from {now}"
            remedy = "Look at it on the next boot: some BMCs forget, or show it only then"
            findings.append(Finding("CW8209", Where(path=node), what, remedy, Severity.WARNING))
    return found, sorted(together(findings), key=lambda one: (one.where, one.code))
