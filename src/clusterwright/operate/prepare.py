"""From a description to everything that is known before anything is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clusterwright.checks import check
from clusterwright.finding import Finding, Refused, Severity
from clusterwright.handoff import Handoff, from_plan
from clusterwright.operate.source import Source, rehearsal_name
from clusterwright.plan import plan, rehearse
from clusterwright.plan.model import ClusterPlan, Ground
from clusterwright.render import NodeFile, render
from clusterwright.spec.cluster import ClusterSpec
from clusterwright.spec.load import LoadedSpec, load


@dataclass(frozen=True)
class Prepared:
    """A description that passed, planned and rendered."""

    loaded: LoadedSpec
    plan: ClusterPlan
    handoff: Handoff
    files: tuple[NodeFile, ...]
    findings: tuple[Finding, ...]
    """Warnings and notes; an error would have been refused."""


def described(source: Source) -> tuple[LoadedSpec, ClusterSpec, tuple[Finding, ...]]:
    """The description as it is brought up: a rehearsal is a lab of another name."""
    loaded = load(source.file)
    if not source.rehearse:
        return loaded, loaded.spec, ()
    rehearsal = rehearse(loaded.spec, source.counts)
    spec = rehearsal.spec.model_copy(update={"cluster": rehearsal_name(loaded.spec.cluster)})
    return loaded, spec, rehearsal.findings


def prepare(
    source: Source,
    *,
    ground: Mapping[str, Ground] | None = None,
    previous: Mapping[str, str] | None = None,
) -> Prepared:
    """Load, check, plan and render. Raises Refused with every finding at once."""
    loaded, spec, notes = described(source)
    findings = (*notes, *check(spec, ground=ground, where=loaded.where))
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise Refused(findings)
    planned = plan(spec, ground=ground, previous=previous)
    handoff = from_plan(planned)
    return Prepared(loaded, planned, handoff, render(handoff), findings)
