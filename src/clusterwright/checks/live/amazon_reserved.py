"""AWS, asked with the account's own credentials: what was reserved"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from clusterwright.checks.live.amazon import Aws, machine_of
from clusterwright.checks.live.answer import known
from clusterwright.checks.live.aws_seen import AwsSeen, Reservation
from clusterwright.checks.live.rule import live_rule
from clusterwright.checks.rule import Problem
from clusterwright.finding import Severity
from clusterwright.plan.aws import Machine

_BLOCK_ENDS_EARLY = timedelta(minutes=30)
"""Amazon EC2 User Guide, Capacity Blocks: termination begins 30 minutes before the end."""


@live_rule(
    "CW1405",
    "A reservation that is not there, or not active",
    needs=("reservations",),
    source="Amazon EC2 DescribeCapacityReservations",
    example="capacity: {model: capacity-block, reservation: cr-…} that begins tomorrow",
)
def reservation_not_active(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """Every machine of the pool would be refused."""
    reservations = known(seen.reservations) or {}
    for pool, name, machine in _reserved(subject):
        path, row = f"pools.{pool}.capacity.reservation", reservations.get(name)
        if row is None:
            what = f"there is no reservation {name} in {subject.cloud.region} that this account sees"
            yield Problem(path, what, "Name one of this account and region")
        elif row.state != "active":
            yield Problem(path, f"{name} is {row.state}", "Wait until it is active, or name another")
        elif row.block != (machine.capacity == "capacity-block"):
            right = "capacity-block" if row.block else "reservation"
            what = f"{name} is {'a' if row.block else 'no'} Capacity Block"
            yield Problem(f"pools.{pool}.capacity.model", what, f"Write `model: {right}`")


@live_rule(
    "CW1406",
    "A reservation of something else",
    needs=("reservations",),
    source="Amazon EC2 User Guide, Capacity Reservations: type, zone and platform must match",
    example="a reservation of p5.48xlarge in us-east-2b for a site in us-east-2a",
)
def reservation_of_something_else(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """A machine that differs in one of them is not made from it."""
    for pool, name, row in _found(subject, seen):
        wanted = machine_of(subject, subject.nodes[pool][0])
        differs = [
            f"{what} {there}, not {asked}"
            for what, there, asked in (
                ("of the type", row.machine, wanted.kind),
                ("in the zone", row.zone, subject.cloud.zone),
                ("of the platform", row.platform, "Linux/UNIX"),
            )
            if there != asked
        ]
        if differs:
            what = f"{name} is {' and '.join(differs)}"
            yield Problem(
                f"pools.{pool}.capacity.reservation", what, "Name one that fits, or change the pool"
            )


@live_rule(
    "CW1407",
    "A reservation with too few machines",
    needs=("reservations",),
    source="Amazon EC2 DescribeCapacityReservations: AvailableInstanceCount",
    example="16 nodes of a Capacity Block of 8",
)
def reservation_too_small(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """The last nodes would never come, and jobs on all of them never start."""
    there = {one.node for one in known(seen.instances) or () if one.node}
    wanted: dict[str, list[str]] = {}
    for pool, name, _ in _found(subject, seen):
        wanted.setdefault(name, []).append(pool)
    for name, pools in wanted.items():
        row = (known(seen.reservations) or {})[name]
        missing = [node for pool in pools for node in subject.nodes[pool] if node not in there]
        if len(missing) > row.free:
            what = f"{len(missing)} machines are to come from {name}, and {row.free} of {row.total} are free"
            remedy = f"Describe {row.free} nodes, or reserve more"
            yield Problem(f"pools.{pools[0]}.capacity.reservation", what, remedy)


@live_rule(
    "CW1408",
    "A reservation that ends too early",
    needs=("reservations",),
    source="Amazon EC2 User Guide, Capacity Blocks: termination begins 30 minutes before the end",
    example="a Capacity Block that ends in two days, with jobs of seven",
    severity=Severity.WARNING,
)
def reservation_ends_early(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """A job that is started today and runs as long as it may is cut off."""
    for pool, name, row in _found(subject, seen):
        if row.end is None:
            continue
        left = row.end - (_BLOCK_ENDS_EARLY if row.block else timedelta()) - seen.at
        longest = subject.longest_job(pool)
        if left <= timedelta():
            yield Problem(f"pools.{pool}.capacity.reservation", f"{name} has ended", "Name another one")
        elif longest is None or timedelta(seconds=longest) > left:
            hours = left.total_seconds() / 3600
            jobs = "no limit" if longest is None else f"up to {longest / 3600:g} h"
            what = f"machines of {name} stay for {hours:,.1f} h more, and jobs have {jobs}"
            remedy = f"Give the partition a `max_time` of {int(hours)} h or less"
            yield Problem(f"pools.{pool}.capacity.reservation", what, remedy)


@live_rule(
    "CW1409",
    "A reservation whose machines may stand apart",
    needs=("reservations",),
    source="Amazon EC2 User Guide, Capacity Reservations in cluster placement groups",
    example="an open reservation of p5.48xlarge that was made in no placement group",
    severity=Severity.WARNING,
)
def reservation_not_together(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """What is reserved has the place that it was reserved in; without a group the fabric may be slow."""
    for pool, name, row in _found(subject, seen):
        has_fabric = any(
            one.kind.startswith("efa") for one in machine_of(subject, subject.nodes[pool][0]).interfaces
        )
        if has_fabric and len(subject.nodes[pool]) > 1 and not row.block and not row.grouped:
            what = f"{name} was not made in a cluster placement group"
            yield Problem(
                f"pools.{pool}.capacity.reservation", what, "Reserve in a group, or accept less bandwidth"
            )


@live_rule(
    "CW1570",
    "A Capacity Block that ends before its description says",
    needs=("reservations",),
    source="Amazon EC2 DescribeCapacityReservations: EndDate",
    example="capacity: {ends: 2026-12-14T11:30Z}, of a block that EC2 ends three days before",
)
def block_ends_before(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """Slurm starts jobs by the time that is written down, and Amazon takes their machines."""
    for pool, name, written, end in _ends(subject, seen):
        if end < written:
            what = f"EC2 ends {name} at {_text(end)}, {_hours(written - end)} before"
            yield Problem(f"pools.{pool}.capacity.ends", what, f"Write `ends: {_text(end)}`")


@live_rule(
    "CW1571",
    "A Capacity Block that lasts longer than its description says",
    needs=("reservations",),
    source="Amazon EC2 DescribeCapacityReservations: EndDate",
    example="capacity: {ends: 2026-12-14T11:30Z}, of a block that was extended by a week",
    severity=Severity.WARNING,
)
def block_ends_after(subject: Aws, seen: AwsSeen) -> Iterator[Problem]:
    """Machines that are paid for get no jobs any more."""
    for pool, name, written, end in _ends(subject, seen):
        if end > written:
            what = f"EC2 ends {name} at {_text(end)}, {_hours(end - written)} later: no job runs until then"
            yield Problem(f"pools.{pool}.capacity.ends", what, f"Write `ends: {_text(end)}`")


def _ends(subject: Aws, seen: AwsSeen) -> Iterator[tuple[str, str, datetime, datetime]]:
    """Pools of a Capacity Block: its name, the end that is written down, and EC2's own; to the minute."""
    for pool, name, row in _found(subject, seen):
        capacity = subject.planned.spec.pools[pool].capacity
        if row.block and row.end and capacity and capacity.ends:
            yield pool, name, _minute(datetime.fromisoformat(capacity.ends)), _minute(row.end)


def _minute(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(second=0, microsecond=0)


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%MZ}"


def _hours(span: timedelta) -> str:
    return f"{span.total_seconds() / 3600:,.1f} h"


def _found(subject: Aws, seen: AwsSeen) -> Iterator[tuple[str, str, Reservation]]:
    """Pools with a reservation that is there and active."""
    reservations = known(seen.reservations) or {}
    for pool, name, _ in _reserved(subject):
        row = reservations.get(name)
        if row is not None and row.state == "active":
            yield pool, name, row


def _reserved(subject: Aws) -> Iterator[tuple[str, str, Machine]]:
    """Pool, reservation, and a machine of those that are to come from it."""
    for pool, nodes in subject.nodes.items():
        machine = machine_of(subject, nodes[0])
        if machine.reservation:
            yield pool, machine.reservation, machine
