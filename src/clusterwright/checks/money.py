"""Money: what a month costs, and who is told when it is spent."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.cost import Cost
from clusterwright.plan.outline import Outline
from clusterwright.plan.pricing import cost
from clusterwright.spec.site import AwsSite

_MUCH = 10_000
"""US dollars a month from which somebody should be told."""


def _sites(outline: Outline) -> Iterator[tuple[str, AwsSite, Cost]]:
    """Sites on AWS that are all of the cluster: the budget of one of several is not told apart here."""
    if len(outline.sites) == 1:
        for name, site in outline.sites.items():
            if isinstance(site, AwsSite):
                yield name, site, cost(outline)


@rule(
    "CW1551",
    "A budget below what the plan costs",
    source="the catalog's prices, for a month of 730 hours with every node up",
    example="site: {provider: aws, budget: 20000, …}, pools: {gpu: {machine: p5.48xlarge, count: 8}}",
    severity=Severity.WARNING,
)
def budget_too_small(outline: Outline) -> Iterator[Problem]:
    """It warns every month, and nobody reads what always comes. What no source tells is not in the sum."""
    for name, site, known in _sites(outline):
        if site.budget is not None and known.usd_per_month > site.budget:
            what = (
                f"the budget is ${site.budget:,} a month, and the plan comes to ${known.usd_per_month:,.0f}"
            )
            remedy = "Raise the budget, or describe fewer or other machines"
            yield Problem(site_field(name, "budget"), what, remedy)


@rule(
    "CW1552",
    "A price without a budget",
    source=f"clusterwright: from ${_MUCH:,} a month on, somebody should be told what is spent",
    example="site: {provider: aws, …}, pools: {gpu: {machine: p5.48xlarge, count: 8}}",
    severity=Severity.WARNING,
)
def price_without_budget(outline: Outline) -> Iterator[Problem]:
    """A cluster that was forgotten is told by the bill, weeks later. A budget stops nothing: it writes."""
    for name, site, known in _sites(outline):
        if site.budget is None and known.usd_per_month > _MUCH:
            what = f"the plan comes to ${known.usd_per_month:,.0f} a month, and no budget tells anybody"
            yield Problem(site_field(name, "region"), what, "Add `budget` and `budget_email` to the site")
