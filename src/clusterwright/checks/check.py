"""Every rule asked, every answer given its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import ModuleType

from clusterwright.catalog.machine_catalog import MachineCatalog
from clusterwright.catalog.machines import catalog as shipped
from clusterwright.checks import (
    amazon,
    capacity,
    cloud,
    fabric,
    google,
    google_fabric,
    machines,
    mig,
    names,
    network,
    parallel,
    people,
    power,
    roles,
    scheduler,
    software,
    storage,
    surroundings,
    weka,
)
from clusterwright.checks.rule import Rule
from clusterwright.finding import Finding, Where
from clusterwright.plan.model import Ground
from clusterwright.plan.outline import Outline
from clusterwright.spec.cluster import ClusterSpec

CONCERNS: tuple[ModuleType, ...] = (
    names,
    network,
    machines,
    mig,
    roles,
    scheduler,
    software,
    people,
    storage,
    parallel,
    weka,
    power,
    fabric,
    cloud,
    capacity,
    google,
    google_fabric,
    amazon,
    surroundings,
)


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by concern."""
    return tuple(value for concern in CONCERNS for value in vars(concern).values() if isinstance(value, Rule))


def _by_path(path: str) -> Where:
    return Where(path=path)


def check(
    spec: ClusterSpec,
    where: Callable[[str], Where] = _by_path,
    *,
    ground: Mapping[str, Ground] | None = None,
    catalog: MachineCatalog | None = None,
) -> list[Finding]:
    """Everything that is wrong or risky, in the order of the file. Never raises.

    `where` gives a field's place in the file; `LoadedSpec.where` is one. A description without errors can be
    planned with the same `ground` and `catalog`.
    """
    outline = Outline(spec, ground or {}, catalog or shipped())
    findings = [
        Finding(rule.code, where(problem.path), problem.what, problem.remedy, rule.severity)
        for rule in rules()
        for problem in rule.test(outline)
    ]
    return sorted(findings, key=lambda finding: (finding.where, finding.code, finding.what))
