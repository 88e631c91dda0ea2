"""One look at a project: every question that a plan raises, asked at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from clusterwright.checks.live.demand import gcp_demands
from clusterwright.checks.live.gcp_seen import GcpSeen
from clusterwright.checks.live.needs import permissions, services
from clusterwright.checks.live.subject import Subject
from clusterwright.plan.gcp.model import GcpPlan
from clusterwright.providers.asking import Question, ask_all, under
from clusterwright.providers.gcp.live import capacity, ground
from clusterwright.providers.gcp.live.project import Project


def look(subject: Subject[GcpPlan], at: datetime, project: Project | None = None) -> GcpSeen:
    """Raises Refused where this machine has no credentials. `at` is the time of the look."""
    asked = project or Project(subject.cloud.project)
    try:
        told = ask_all(_questions(asked, subject))
    finally:
        asked.close()
    known = {name: answer for name, answer in told.items() if "." not in name}
    return GcpSeen(at=at, **known, images=under("images.", told))


def _questions(project: Project, subject: Subject[GcpPlan]) -> Iterator[Question]:
    plan = subject.cloud

    def ask(name: str, permission: str, how: Callable[..., Any], *more: Any) -> Question:
        return Question(name, permission, partial(how, project, permission, *more))

    yield ask("services", "serviceusage.services.get", capacity.enabled, services(plan))
    yield ask("permissions", "resourcemanager.projects.get", capacity.granted, permissions(plan))
    yield ask("zone", "compute.zones.get", capacity.zone, plan.zone)
    kinds = sorted({machine.kind for machine in plan.machines})
    yield ask("machines", "compute.machineTypes.get", capacity.machines, plan.zone, kinds)
    yield ask("region_quotas", "compute.regions.get", capacity.region_quotas, plan.region)
    yield ask("project_quotas", "compute.projects.get", capacity.project_quotas)
    families = [one.quota.code for one in gcp_demands(subject) if one.quota.service == "family"]
    if families:
        yield ask("family_quotas", "cloudquotas.quotas.get", capacity.family_quotas, plan.region)
    yield ask("nodes", "compute.instances.list", capacity.nodes, plan)
    yield from _of_ground(ask, plan)


def _of_ground(ask: Callable[..., Question], plan: GcpPlan) -> Iterator[Question]:
    names = sorted({one.scheduling.reservation for one in plan.machines if one.scheduling.reservation})
    if names:
        yield ask("reservations", "compute.reservations.get", capacity.reservations, plan.zone, names)
    for name in sorted({machine.image for machine in plan.machines}):
        yield ask(f"images.{name}", "compute.images.get", ground.image, name)
    profiles = _profiles(plan)
    if profiles:
        yield ask("profiles", "compute.networkProfiles.get", ground.profiles, profiles)
    if plan.existing:
        yield ask("mtu", "compute.networks.get", ground.mtu, plan.existing)
        yield ask("subnet", "compute.subnetworks.get", ground.subnet, plan.existing, plan.region)
        yield ask("nat", "compute.routers.list", ground.nat, plan.existing, plan.region)


def _profiles(plan: GcpPlan) -> Mapping[str, None]:
    """Names of the profiles that the fabric's networks are made with, each once."""
    return dict.fromkeys(vpc.profile.rpartition("/")[2] for vpc in plan.vpcs if vpc.profile)
