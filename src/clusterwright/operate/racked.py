"""A description's racks, checked."""

from __future__ import annotations

from clusterwright.checks import check
from clusterwright.finding import Finding, Refused, Severity, Where, refuse
from clusterwright.operate.prepare import described
from clusterwright.operate.source import Source
from clusterwright.plan.floor import Floor
from clusterwright.plan.outline import Outline


def racks(source: Source) -> tuple[tuple[Floor, ...], tuple[Finding, ...]]:
    """Floors with racks on them, and warnings. Raises Refused for mistakes, or where there is no rack."""
    description = described(source)
    findings = (*description.notes, *check(description.spec, description.loaded.where))
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise Refused(findings)
    found = tuple(floor for floor in Outline(description.spec, {}).floors if floor.racks)
    if not found:
        remedy = "Add `racks` to its pools; `clusterwright explain pools.*.racks` says more"
        raise refuse("CW8114", Where(description.loaded.file), "it describes no racks", remedy)
    return found, findings
