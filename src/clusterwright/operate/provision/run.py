"""The course of a provision: what is refused before anything is switched, then batch after batch."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Severity
from clusterwright.handoff import Node
from clusterwright.operate.bmc import power
from clusterwright.operate.bmc.boot import boot
from clusterwright.operate.bmc.jobs import refuse_jobs
from clusterwright.operate.bmc.machine import Bmc
from clusterwright.operate.bmc.site import Bmcs
from clusterwright.operate.own import bootstrap
from clusterwright.operate.own.batches import Batches
from clusterwright.operate.own.contact import Contact
from clusterwright.operate.own.machines import BOOT_SECONDS
from clusterwright.operate.own.site import OwnSite
from clusterwright.operate.provision.begun import Begun
from clusterwright.operate.provision.intent import Intent, intent
from clusterwright.operate.provision.orders import Orders, Write
from clusterwright.operate.provision.result import Ended, Provisioned
from clusterwright.operate.provision.served import unserved
from clusterwright.operate.provision.wait import answered, astray, late
from clusterwright.spec.nodeset import fold


@dataclass(frozen=True, slots=True)
class How:
    """`timeout` of a boot, `wait` and `force` of systems that have to end first."""

    timeout: float = BOOT_SECONDS
    wait: float = power.WAIT
    force: bool = False
    disturb: bool = False
    write: Write = ""
    batches: Batches = field(default_factory=Batches)


@dataclass(frozen=True)
class Provision:
    """Of one site. Killed at any moment, the next run goes on: what was switched is not switched again."""

    site: OwnSite
    bmcs: Bmcs
    contact: Contact
    how: How = How()

    @cached_property
    def _begun(self) -> Begun:
        return Begun(self.site.home)

    @cached_property
    def orders(self) -> Orders:
        return Orders(self.site, self.how.write)

    def look(self, nodes: Sequence[Node]) -> Intent:
        """What each needs. Raises Refused where the controller does not serve it, or jobs would be lost."""
        anew = {node.name for node in nodes if self.how.write == "rewrite" and self.site.disk(node)}
        found = intent(self.site, self.bmcs, nodes, self.contact.port, self._begun.read(), anew)
        refused, notes = [*unserved(self.site, found.of("start", "restart"))], []
        try:
            if not self.how.disturb:
                notes = refuse_jobs(self.bmcs.cluster, [node.name for node in found.of("restart")])
        except Refused as jobs:
            refused += jobs.findings
        if refused:
            raise Refused([*refused, *found.findings])
        return replace(found, findings=(*notes, *found.findings))

    def run(self, found: Intent, report: Report) -> Provisioned:
        ready = {node.name for node in found.of("nothing")}
        self._begun.forget(ready)
        self.orders.withdraw(found.of("nothing"))
        nodes = {node.name: Ended("ok" if node.name in ready else "failed") for node in found.nodes}
        ended = Provisioned(self.site.handoff.name, nodes, found.findings)
        batches = self.how.batches.of(found.of("bootstrap", "start", "restart"))
        for number, batch in enumerate(batches, 1):
            if len(batches) > 1:
                text, names = f"batch {number} of {len(batches)}", fold(node.name for node in batch)
                report(Event("provision", "started", text, names))
            done = _Batch(self, self._begun, report).run(batch, found)
            ended = replace(
                ended, nodes={**ended.nodes, **done.nodes}, findings=(*ended.findings, *done.findings)
            )
            left = tuple(node.name for later in batches[number:] for node in later)
            broken = sum(one.status == "failed" for one in done.nodes.values())
            if stop := self.how.batches.stopped(ended.cluster, broken, len(batch), left):
                return replace(ended, findings=(*ended.findings, stop), untouched=left)
        return ended


@dataclass(frozen=True)
class _Batch:
    """Machines that are started at once, as far as their PDUs and feeds let them."""

    of: Provision
    begun: Begun
    report: Report
    doubts: list[Finding] = field(default_factory=list)

    def run(self, nodes: Sequence[Node], found: Intent) -> Provisioned:
        switched = self._switch([node for node in nodes if found.steps[node.name] != "bootstrap"], found)
        started = [
            node for node in nodes if node.name in switched.states or found.steps[node.name] == "bootstrap"
        ]
        came, lost = self._awaited(started)
        ready, refused = self._bootstrapped(came)
        self.begun.forget(ready)
        self.of.orders.withdraw([node for node in nodes if node.name in ready])
        ended = {
            node.name: Ended("changed" if node.name in ready else "failed", switched.done.get(node.name, ""))
            for node in nodes
        }
        return Provisioned(
            self.of.site.handoff.name, ended, (*switched.findings, *self.doubts, *lost, *refused)
        )

    def _switch(self, nodes: Sequence[Node], found: Intent) -> power.Switched:
        """Those that are off afterwards are in its findings."""
        before = {node.name: found.power[node.name] for node in nodes}
        if not nodes:
            return power.Switched({})
        self.begun.forget(before)
        switching = power.Switching(
            "cycle",
            self.of.bmcs.limits,
            self.report,
            self.of.how.wait,
            self.of.how.force,
            before_start=self._from_network,
        )
        return switching.run([self.of.bmcs.known[name] for name in before], power.Switched(before))

    def _from_network(self, bmc: Bmc) -> None:
        """At the last moment: what IPMI says of the next boot holds for a minute (2.0, table 28-14)."""
        self.of.orders.give(self.of.site.handoff.by_name[bmc.node])
        self.begun.note([bmc.node], "starting")
        _, findings = boot([bmc], "network", self.report, once=True, at_once=1)
        if refused := [finding for finding in findings if finding.severity is Severity.ERROR]:
            raise Refused(refused)
        self.doubts.extend(findings)

    def _awaited(self, nodes: Sequence[Node]) -> tuple[Sequence[Node], Sequence[Finding]]:
        """Those that came, and what became of the others."""
        if not nodes:
            return (), ()
        site, port, timeout = self.of.site, self.of.contact.port, self.of.how.timeout
        there = answered(site, nodes, port, timeout, self.report)
        strayed = astray(site, [node for node in nodes if node.name in there])
        elsewhere = {finding.where.path for finding in strayed}
        came = [node for node in nodes if node.name in there and node.name not in elsewhere]
        absent = [node for node in nodes if node.name not in there]
        self.begun.forget(elsewhere)
        self.begun.note([node.name for node in absent], "late")
        return came, [*strayed, *late(site, absent, timeout)]

    def _bootstrapped(self, nodes: Sequence[Node]) -> tuple[Collection[str], Sequence[Finding]]:
        if not nodes:
            return (), ()
        how = bootstrap.How(batches=Batches("100%", 100))
        done = bootstrap.bootstrap(self.of.site, nodes, self.of.contact, how, self.report)
        return {name for name, one in done.nodes.items() if one.status in ("ok", "changed")}, done.findings
