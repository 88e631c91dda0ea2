"""Every rule asked, every answer given its place in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from types import ModuleType

from clusterwright.catalog.machine_catalog import MachineCatalog
from clusterwright.catalog.machines import catalog as shipped
from clusterwright.checks import (
    amazon,
    backup,
    bmc,
    boot,
    buckets,
    budget,
    capacity,
    cloud,
    cloud_storage,
    controllers,
    directory,
    ethernet,
    fabric,
    feeds,
    firewall,
    floor,
    floor_power,
    google,
    google_fabric,
    groups,
    hybrid,
    kept,
    labels,
    lustre_efa,
    machine_choice,
    machine_file,
    machines,
    mig,
    money,
    names,
    network,
    parallel,
    people,
    power,
    reach,
    reserved,
    roles,
    scheduler,
    sharing,
    software,
    starts,
    storage,
    surroundings,
    treatments,
    way_out,
    weka,
    wiring,
)
from clusterwright.checks.rule import Problem, Rule
from clusterwright.finding import Finding, Where
from clusterwright.plan.model import Ground
from clusterwright.plan.outline import Outline
from clusterwright.spec.cluster import ClusterSpec

CONCERNS: tuple[ModuleType, ...] = (
    names,
    network,
    machines,
    mig,
    sharing,
    roles,
    scheduler,
    software,
    treatments,
    people,
    directory,
    storage,
    backup,
    buckets,
    parallel,
    weka,
    power,
    fabric,
    wiring,
    ethernet,
    floor,
    floor_power,
    feeds,
    machine_file,
    starts,
    bmc,
    boot,
    firewall,
    cloud,
    money,
    capacity,
    groups,
    kept,
    google,
    google_fabric,
    amazon,
    budget,
    machine_choice,
    reserved,
    reach,
    labels,
    cloud_storage,
    controllers,
    lustre_efa,
    way_out,
    surroundings,
    hybrid,
)


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by concern."""
    return tuple(value for concern in CONCERNS for value in vars(concern).values() if isinstance(value, Rule))


def _by_path(path: str) -> Where:
    return Where(path=path)


def _place(problem: Problem, where: Callable[[str], Where]) -> Where:
    return replace(problem.place, path=problem.path) if problem.place else where(problem.path)


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
        Finding(rule.code, _place(problem, where), problem.what, problem.remedy, rule.severity)
        for rule in rules()
        for problem in rule.test(outline)
    ]
    return sorted(findings, key=lambda finding: (finding.where, finding.code, finding.what))
