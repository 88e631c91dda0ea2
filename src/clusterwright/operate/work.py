"""A cluster that is being worked on: what it is to become, what it was, and what it stands on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial

from clusterwright.bundle.wanted import Image
from clusterwright.change import Change, diff
from clusterwright.converge.target import Target
from clusterwright.converge.verify import Verified, verify
from clusterwright.event import Event, Report
from clusterwright.finding import Finding, Refused, Severity
from clusterwright.handoff import Handoff
from clusterwright.operate.configure import install
from clusterwright.operate.desired import Desired
from clusterwright.operate.disturb import queue_of
from clusterwright.operate.home import ClusterHome
from clusterwright.operate.machines import Machines
from clusterwright.operate.prepare import Prepared, addresses_of, described, prepare
from clusterwright.operate.provider import machines_of
from clusterwright.operate.pull.bake import equip
from clusterwright.operate.pull.converge import start_with
from clusterwright.operate.pull.proof import Proof, proof_in
from clusterwright.operate.pull.publish import wheels_of
from clusterwright.operate.pull.reports import host_keys
from clusterwright.operate.pull.store import Store
from clusterwright.operate.queue import Queue
from clusterwright.operate.source import Source
from clusterwright.spec.nodeset import fold


@dataclass(frozen=True)
class Work:
    """One cluster; its lock is held."""

    home: ClusterHome
    machines: Machines
    desired: Desired
    prepared: Prepared
    risks: tuple[Finding, ...]
    """What about this machine may get in the way."""
    before: Handoff | None
    """As last applied."""

    @property
    def handoff(self) -> Handoff:
        return self.prepared.handoff

    @cached_property
    def targets(self) -> Mapping[str, Target]:
        """Nodes that were there when the work began."""
        return self.machines.targets(self.before or self.handoff)

    @property
    def queue(self) -> Queue | None:
        """Slurm's, where there was one when the work began."""
        return queue_of(self.before, self.targets) if self.before else None

    @cached_property
    def images(self) -> Mapping[str, str]:
        """Node → the key of its image."""
        return {node: key for key, image in self.desired.images.items() for node in image.nodes}

    def only(self, nodes: Collection[str]) -> Handoff:
        """The hand-off with these nodes and no other."""
        return replace(self.handoff, nodes=tuple(node for node in self.handoff.nodes if node.name in nodes))

    def ensure(self, nodes: Collection[str], report: Report) -> Mapping[str, Target]:
        data = start_with(self.store, self.desired) if self.store else ""
        return self.machines.ensure(self.only(nodes), self.images, report, data)

    @property
    def pulls(self) -> bool:
        """Whether its nodes converge themselves."""
        return bool(self.handoff.cluster["converge"] == "pull")

    @cached_property
    def store(self) -> Store | None:
        """Where nodes that pull find their bundle."""
        return self.machines.store(self.handoff) if self.pulls else None

    def proof(self) -> Proof | None:
        """What was last said of a cluster that pulls, before this work."""
        return proof_in(self.store, self.handoff, host_keys(self.targets)) if self.store else None

    def reboot(self, nodes: Collection[str], report: Report) -> None:
        report(Event("reboot", "started", "what is loaded is exchanged", fold(nodes)))
        self.machines.reboot(self.only(nodes), self.images, report)
        for node in sorted(nodes):
            report(Event("reboot", "changed", "booted", node))

    def bake(self, nodes: Collection[str], report: Report) -> tuple[str, ...]:
        """The images of these nodes, before anything that runs is taken away; digests of what was baked."""
        baked = [
            self.machines.ensure_image(self.handoff, key, partial(self._install, image, report), report)
            for key, image in self.desired.images.items()
            if {*nodes} & {*image.nodes}
        ]
        return tuple(digest for digest in baked if digest)

    def _install(self, image: Image, report: Report, builder: Target) -> None:
        install(self.desired, image, builder, report)
        for files in wheels_of(self.handoff).values() if self.pulls else ():
            equip(builder, files)

    def changes(self, report: Report) -> list[Change]:
        """Say what differs from what was last applied."""
        if self.before is None:
            return []
        changes = diff(self.before, self.handoff, self.home.files(), self.prepared.files)
        for change in changes:
            nodes = fold(change.nodes) or None
            report(Event("diff", "progress", f"{change.path} {change.what}: {change.impact.value}", nodes))
        return changes

    def look(self, nodes: Collection[str]) -> Mapping[str, Verified]:
        """What these nodes are now."""
        asked = [target for name, target in self.machines.targets(self.handoff).items() if name in nodes]
        return verify(asked, self.desired.wanted)


@contextmanager
def begun(source: Source) -> Iterator[Work]:
    """Everything that is refused is refused here, before anything is made."""
    description = described(source)
    home = ClusterHome.of(description.spec.cluster)
    machines = machines_of(description.spec)
    description = description.over(home.handoff())
    prepare(description)
    unmet = machines.unmet()
    if any(finding.severity is Severity.ERROR for finding in unmet):
        raise Refused(unmet)
    with home.locked():
        before = home.handoff()
        source.record(home)
        description = description.over(before)
        prepared = prepare(
            description, ground=machines.ground(description.lock), previous=addresses_of(before)
        )
        desired = Desired(home, prepared.handoff, prepared.files, source.folder)
        yield Work(home, machines, desired, prepared, tuple(unmet), before)
