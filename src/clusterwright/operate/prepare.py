"""From a description to everything that is known before anything is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from clusterwright.bundle.archives import source_of
from clusterwright.checks import check
from clusterwright.finding import Finding, Refused, Severity
from clusterwright.handoff import Handoff, from_plan
from clusterwright.handoff.software import MIRROR
from clusterwright.operate.baked import with_images
from clusterwright.operate.lock import Settled, settled
from clusterwright.operate.source import Source, rehearsal_name
from clusterwright.plan import plan, rehearse
from clusterwright.plan.model import ClusterPlan, Ground, Mirror
from clusterwright.plan.software import Lock
from clusterwright.plan.software.gaps import homeless
from clusterwright.render import NodeFile, render
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import LoadedSpec, load


@dataclass(frozen=True)
class Described:
    """A description as it is to be brought up: a rehearsal is a lab with a name of its own."""

    loaded: LoadedSpec
    spec: ClusterSpec
    notes: tuple[Finding, ...] = ()
    rehearsal_of: tuple[str, ...] = ()
    applied: Handoff | None = None
    """What the cluster is now; software that no lock tells stays as it is there."""

    @cached_property
    def settled(self) -> Settled:
        """The software of every pool, in a rehearsal that of the original. For what passed its checks."""
        software = self.applied.software if self.applied else None
        return settled(self.loaded.spec, self.loaded.where, Path(self.loaded.file), software)

    @property
    def lock(self) -> Lock:
        return self.settled.lock

    def over(self, applied: Handoff | None) -> Described:
        """The same for a cluster that is there."""
        return self if applied == self.applied else replace(self, applied=applied)


@dataclass(frozen=True)
class Prepared:
    """A description that passed, planned and rendered."""

    plan: ClusterPlan
    handoff: Handoff
    files: tuple[NodeFile, ...]
    findings: tuple[Finding, ...]
    """Warnings and notes; an error would have been refused."""


def ground_of(applied: Handoff) -> Mapping[str, Ground]:
    """What was picked when the cluster was made, so that looking ahead reserves nothing."""
    cgroup, mirror = applied.scheduler["cgroup"], _mirror_of(applied)
    return {
        name: Ground(site["network"], cgroup["plugin"], cgroup["mountpoint"], site["simulated"], mirror)
        for name, site in applied.site.items()
    }


def addresses_of(applied: Handoff | None) -> Mapping[str, str] | None:
    """Those that nodes keep; on a cloud it is the stack that says what they are."""
    if applied is None:
        return None
    own = {name for name, site in applied.site.items() if site["provider"] in ("lab", "onprem")}
    return {node.name: node.address for node in applied.nodes if node.site in own}


def _mirror_of(applied: Handoff) -> Mirror | None:
    repositories = applied.software["repositories"]
    row = next(iter(repositories.get(MIRROR, {}).values()), None)
    if row is None:
        return None
    beside = {
        name: {one: source for one in rows if (source := source_of(applied, (name, one)))}
        for name, rows in repositories.items()
        if name != MIRROR
    }
    return Mirror(row["url"], row["suite"], tuple(row["components"]), row["key"], beside)


def described(source: Source) -> Described:
    """Read a description. Raises Refused with every mistake at its line."""
    loaded = load(source.file)
    if not source.rehearse:
        return Described(loaded, loaded.spec)
    rehearsal = rehearse(loaded.spec, source.counts)
    spec = rehearsal.spec.model_copy(update={"cluster": rehearsal_name(loaded.spec.cluster)})
    return Described(loaded, spec, rehearsal.findings, rehearsal.of)


def prepare(
    description: Described,
    *,
    ground: Mapping[str, Ground] | None = None,
    previous: Mapping[str, str] | None = None,
) -> Prepared:
    """Check, plan and render. Raises Refused with every finding at once."""
    spec, where = description.spec, description.loaded.where
    findings = (*description.notes, *check(spec, where, ground=ground))
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise Refused(findings)
    planned = plan(
        spec,
        ground=ground,
        previous=previous,
        rehearsal_of=description.rehearsal_of,
        lock=description.lock,
    )
    handoff = from_plan(planned)
    files = render(handoff)
    planned = with_images(planned, handoff, files, Path(description.loaded.file).parent, where)
    if planned.images and any(site.provider == "onprem" for site in planned.sites):
        handoff = from_plan(planned)  # own machines are told by their controller which image they boot
        files = render(handoff)
    real = any(site.provider != "lab" for site in planned.sites)
    missing = homeless(description.lock, where("software")) if real and spec.software.mirror is None else ()
    return Prepared(planned, handoff, files, (*findings, *description.settled.notes, *missing))
