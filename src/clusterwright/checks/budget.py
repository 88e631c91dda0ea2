"""Clouds: budgets that warn somebody."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.network import site_field
from clusterwright.checks.rule import Problem, rule
from clusterwright.plan.outline import Outline
from clusterwright.spec.site import AwsSite, GcpSite


@rule(
    "CW1357",
    "A budget that warns nobody",
    source="AWS Budgets: a notification has a subscriber; Cloud Billing: a budget is a billing account's",
    example="site: {provider: aws, budget: 20000, …}",
)
def budget_without_reader(outline: Outline) -> Iterator[Problem]:
    """Its limit would be passed unseen; and an address alone is never written to."""
    for name, site in outline.sites.items():
        if not isinstance(site, AwsSite | GcpSite):
            continue
        field = site_field(name, "budget")
        if site.budget is not None and site.budget_email is None:
            yield Problem(field, "nobody is told when the budget is spent", "Add `budget_email`")
        elif site.budget is None and site.budget_email is not None:
            remedy = "Add `budget`, an amount a month"
            yield Problem(site_field(name, "budget_email"), "there is no budget to write of", remedy)
        elif isinstance(site, GcpSite) and site.budget is not None and site.billing_account is None:
            remedy = "Add `billing_account`: `gcloud billing projects describe` tells it"
            yield Problem(field, "no billing account is named that the budget is part of", remedy)
