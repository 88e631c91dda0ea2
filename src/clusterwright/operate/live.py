"""A plan held against the account that it would be made in. Nothing is made or changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib import import_module
from typing import Any

from clusterwright.catalog.choice import CLOUDS
from clusterwright.checks.live.rule import Verdict, judge
from clusterwright.checks.live.rules import live_rules
from clusterwright.checks.live.subject import Subject
from clusterwright.finding import Where, refuse
from clusterwright.operate.sdk import refuse_without_sdk
from clusterwright.plan.aws import aws_plan
from clusterwright.plan.gcp import gcp_plan
from clusterwright.plan.model import ClusterPlan


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a cloud came to."""

    provider: str
    place: str
    verdict: Verdict

    def as_json(self) -> dict[str, Any]:
        checks = [asdict(outcome) for outcome in self.verdict.outcomes]
        return {"provider": self.provider, "place": self.place, "checks": checks}


def live(planned: ClusterPlan, where: Callable[[str], Where], at: datetime) -> Look:
    """Raises Refused for a plan that no cloud makes, and where there are no credentials."""
    provider = planned.sites[0].provider
    if len(planned.sites) != 1 or provider not in CLOUDS:
        what = "this plan is not one cluster on one cloud, so there is nobody to ask"
        raise refuse("CW8070", where("site"), what, "Leave `--live` out")
    refuse_without_sdk(provider, where("site"))
    cloud = aws_plan(planned) if provider == "aws" else gcp_plan(planned)
    subject = Subject(planned, cloud)
    seen = import_module(f"clusterwright.providers.{provider}.live.look").look(subject, at)
    verdict = judge(live_rules(provider), subject, seen, where, subject.site_field("region"))
    return Look(provider, planned.sites[0].place, verdict)
