"""One look at an account: every question that a plan raises, asked at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from clusterwright.checks.live.answer import Unanswered
from clusterwright.checks.live.aws_seen import AwsSeen, Image
from clusterwright.checks.live.demand import aws_demands
from clusterwright.checks.live.subject import Subject
from clusterwright.plan.aws import AwsPlan, Machine
from clusterwright.providers.asking import Question, ask_all, under
from clusterwright.providers.aws.live import capacity, ground
from clusterwright.providers.aws.live.account import Account


def look(subject: Subject[AwsPlan], at: datetime, account: Account | None = None) -> AwsSeen:
    """Raises Refused where these credentials are none. `at` is the time of the look."""
    asked = account or Account(subject.cloud.region)
    number = asked.number()
    told = ask_all(_questions(asked, subject))
    launches = ask_all(_trials(asked, subject.cloud, told))
    reserved = told["reservations"]
    wanted = {machine.reservation for machine in subject.cloud.machines if machine.reservation}
    return AwsSeen(
        at=at,
        account=number,
        zones=told["zones"],
        offered=told["offered"],
        quotas=_together(under("quotas.", told)),
        instances=told["instances"],
        usage=under("usage.", told),
        reservations=_of_plan(reserved, wanted) if wanted else None,
        unused=reserved if isinstance(reserved, Unanswered) else capacity.unused(reserved),
        images=under("images.", told),
        dns=told.get("dns"),
        subnets=told.get("subnets"),
        taken=told.get("taken"),
        launches=under("launches.", launches) or None,
    )


def _questions(account: Account, subject: Subject[AwsPlan]) -> Iterator[Question]:
    plan, ask = subject.cloud, partial(_question, account)
    yield ask("zones", "ec2:DescribeAvailabilityZones", capacity.zones)
    kinds = [machine.kind for machine in plan.machines]
    yield ask("offered", "ec2:DescribeInstanceTypeOfferings", capacity.offered, kinds)
    members = {pool: [machine.name for machine in group] for pool, group in plan.groups.items()}
    yield ask("instances", "ec2:DescribeInstances", capacity.instances, plan.cluster, members)
    yield ask("reservations", "ec2:DescribeCapacityReservations", capacity.reservations)
    yield ask("place", "ec2:DescribeSubnets", ground.place, plan)
    for demand in aws_demands(subject):
        yield ask(f"quotas.{demand.quota.code}", "servicequotas:GetServiceQuota", capacity.limit, demand)
        if demand.quota.counts != "vcpus":
            service, operation, count = capacity.usage_of(demand.quota.counts)
            name, permission = f"usage.{demand.quota.counts}", account.permission(service, operation)
            yield ask(name, permission, count, plan.cluster, plan.zone)
    for name in sorted({machine.image for machine in plan.machines}):
        yield ask(f"images.{name}", "ec2:DescribeImages", ground.image, name)
    if plan.vpc:
        planned = frozenset(machine.address for machine in plan.machines)
        yield ask("dns", "ec2:DescribeVpcAttribute", ground.dns, plan.vpc.id)
        yield ask("subnets", "ec2:DescribeSubnets", ground.subnets, plan.vpc)
        yield ask("taken", "ec2:DescribeNetworkInterfaces", ground.taken, plan.vpc.nodes, planned)


def _question(account: Account, name: str, permission: str, ask: Any, *more: Any) -> Question:
    return Question(name, permission, partial(ask, account, *more))


def _trials(account: Account, plan: AwsPlan, told: Mapping[str, Any]) -> Iterator[Question]:
    """A machine of each pool that is not there yet, where its image and a subnet are known."""
    place = told["place"]
    if not isinstance(place, str):
        return
    running = told["instances"] if isinstance(told["instances"], tuple) else ()
    there = {one.node for one in running if one.node}
    tried: set[str] = set()
    for machine in plan.machines:
        image = told[f"images.{machine.image}"]
        if machine.pool not in tried and machine.name not in there and isinstance(image, Image):
            tried.add(machine.pool)
            yield _trial(account, plan, machine, image, place)


def _trial(account: Account, plan: AwsPlan, machine: Machine, image: Image, place: str) -> Question:
    ask = partial(ground.tried, account, plan, machine, image, place)
    return Question(f"launches.{machine.pool}", "ec2:RunInstances", ask)


def _together(quotas: Mapping[str, Any]) -> Any:
    """All quotas that are known; the first reason, where one is not."""
    why = next((one for one in quotas.values() if isinstance(one, Unanswered)), None)
    return why or {code: value for code, value in quotas.items() if value is not None}


def _of_plan(reserved: Any, wanted: set[str]) -> Any:
    if isinstance(reserved, Unanswered):
        return reserved
    return {name: row for name, row in reserved.items() if name in wanted}
