"""Clouds: what was bought, and what is done with it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.capacity import Capacity
from clusterwright.spec.pool import Role
from clusterwright.spec.site import AwsSite, GcpSite

_DAY = 24 * 3600
_MOST_OF_A_BLOCK = 64
_LEAST_FLEX_START = 600
_AMAZONS = re.compile(r"cr-[0-9a-f]{8,17}")
_GOOGLES = re.compile(r"(projects/[a-z0-9-]+/reservations/)?[a-z]([a-z0-9-]{0,61}[a-z0-9])?(/.+)?")
_GOES = {"spot", "flex-start", "capacity-block"}


def _pools(outline: Outline, site: type[AwsSite | GcpSite]) -> Iterator[tuple[str, Capacity]]:
    for name, pool in outline.spec.pools.items():
        if pool.capacity and isinstance(outline.sites.get(outline.site_names[name] or ""), site):
            yield name, pool.capacity


def _partitions(outline: Outline) -> Iterator[tuple[str, str]]:
    """Pools with compute nodes, and each of their partitions."""
    for name, pool in outline.pools_with(Role.COMPUTE):
        yield from ((name, partition) for partition in pool.partitions or [name])


@rule(
    "CW1521",
    "More machines than a Capacity Block has",
    source="Amazon EC2 User Guide, find and purchase Capacity Blocks: up to 64 instances each",
    example="pools: {gpu: {count: 65, capacity: {model: capacity-block, …}}}",
)
def block_too_small(outline: Outline) -> Iterator[Problem]:
    """The machines above are refused, when those below are running and paid for."""
    users: dict[str, int] = {}
    for name, capacity in _pools(outline, AwsSite):
        if capacity.model != "capacity-block" or capacity.reservation is None:
            continue
        before = users.get(capacity.reservation, 0)
        users[capacity.reservation] = before + outline.count(name)
        if before <= _MOST_OF_A_BLOCK < users[capacity.reservation]:
            what = f"{users[capacity.reservation]} machines of a block that has {_MOST_OF_A_BLOCK} at most"
            yield Problem(f"pools.{name}", what, "Spread them over pools with a block each")


@rule(
    "CW1522",
    "A duration that no Capacity Block has",
    source="Amazon EC2 User Guide, find and purchase Capacity Blocks: days up to 14, weeks up to 182 days",
    example="pools: {gpu: {capacity: {model: capacity-block, duration: 20 days, …}}}",
)
def block_duration_not_sold(outline: Outline) -> Iterator[Problem]:
    """The block that was bought ends at another time than this says, and jobs are planned up to this one."""
    for name, capacity in _pools(outline, AwsSite):
        if capacity.model != "capacity-block" or capacity.duration is None:
            continue
        days, rest = divmod(capacity.duration, _DAY)
        if rest or not (1 <= days <= 14 or (days <= 182 and days % 7 == 0)):
            what = f"no block lasts {capacity.duration / _DAY:g} days"
            remedy = "Write 1 to 14 days, or a multiple of 7 up to 182, as it was bought"
            yield Problem(f"pools.{name}.capacity.duration", what, remedy)


@rule(
    "CW1523",
    "Not the ID of a reservation on AWS",
    source="Amazon EC2 API Reference, CapacityReservationTarget: an ID that begins with cr-",
    example="pools: {gpu: {capacity: {model: reservation, reservation: our-p5}}}",
)
def reservation_is_no_id(outline: Outline) -> Iterator[Problem]:
    """A name is a tag there, and nothing is found by it."""
    for name, capacity in _pools(outline, AwsSite):
        if capacity.reservation and not _AMAZONS.fullmatch(capacity.reservation):
            what = f"'{capacity.reservation}' is not the ID of a capacity reservation"
            remedy = "Write it as `cr-` and 17 digits of `0-9a-f`"
            yield Problem(f"pools.{name}.capacity.reservation", what, remedy)


@rule(
    "CW1524",
    "Not the name of a reservation on Google Cloud",
    source="Google Compute Engine, consume a shared reservation: NAME or projects/PROJECT/reservations/NAME",
    example="pools: {gpu: {capacity: {model: reservation, reservation: cr_0123}}}",
)
def reservation_is_no_name(outline: Outline) -> Iterator[Problem]:
    """Google finds reservations by their names: 63 lower-case letters, digits and hyphens, a letter first."""
    for name, capacity in _pools(outline, GcpSite):
        if capacity.reservation and not _GOOGLES.fullmatch(capacity.reservation):
            what = f"'{capacity.reservation}' is not the name of a reservation"
            remedy = "Write its name, or `projects/…/reservations/NAME` where another project shares it"
            yield Problem(f"pools.{name}.capacity.reservation", what, remedy)


@rule(
    "CW1525",
    "One reservation for two machine types",
    source="aws-parallelcluster 451cc53, CapacityReservation validator; Google Compute Engine, reservations",
    example="pools: {a: {machine: p5.48xlarge, capacity: {reservation: cr-1}}, b: {machine: p5e.48xlarge}}",
)
def reservation_of_another_type(outline: Outline) -> Iterator[Problem]:
    """A reservation holds machines of one type, so at least one of these pools gets none."""
    holder: dict[str, str] = {}
    for name, pool in outline.spec.pools.items():
        key = pool.capacity.reservation if pool.capacity else None
        other = outline.spec.pools[holder.setdefault(key, name)].machine if key else pool.machine
        if key and other != pool.machine:
            what = f"'{key}' is of '{other}' for the pool '{holder[key]}', and of '{pool.machine}' here"
            yield Problem(f"pools.{name}.capacity.reservation", what, "Name the reservation of this type")


@rule(
    "CW1526",
    "One reservation in two ways",
    source="Amazon EC2 and Google Compute Engine: what was bought as one kind is asked for as that kind",
    example="pools: {a: {capacity: {model: reservation, …}}, b: {capacity: {model: dense, …}}}",
)
def reservation_in_two_ways(outline: Outline) -> Iterator[Problem]:
    """One of the pools asks for its machines in a way that this reservation does not answer."""
    models: dict[str, str] = {}
    for name, pool in outline.spec.pools.items():
        if pool.capacity is None or pool.capacity.reservation is None:
            continue
        other = models.setdefault(pool.capacity.reservation, pool.capacity.model)
        if other != pool.capacity.model:
            what = f"'{pool.capacity.reservation}' is asked for as '{other}' elsewhere"
            yield Problem(f"pools.{name}.capacity.model", what, "Write what was bought in both")


@rule(
    "CW1527",
    "A partition with machines that stay and machines that go",
    source="Amazon EC2 and Google Cloud Spot, Flex-start and Capacity Blocks: they end, asked or not",
    example="pools: {a: {partitions: gpu}, b: {partitions: gpu, capacity: {model: spot}}}",
    severity=Severity.WARNING,
)
def partition_mixes_ways(outline: Outline) -> Iterator[Problem]:
    """Whoever submits there cannot know which job will be lost; no `max_time` fits both."""
    first: dict[str, str] = {}
    for name, partition in _partitions(outline):
        other = first.setdefault(partition, name)
        ways = outline.capacity(other), outline.capacity(name)
        if (ways[0] in _GOES) != (ways[1] in _GOES):
            what = f"the partition '{partition}' has machines of '{ways[0]}' and of '{ways[1]}'"
            yield Problem(f"pools.{name}.partitions", what, "Give each way a partition of its own")


@rule(
    "CW1528",
    "Jobs that do not come back",
    source="slurm.conf(5), JobRequeue: 0 ends a job whose node is gone; Spot machines are taken back",
    example="pools: {gpu: {capacity: {model: spot}}}, scheduler: {options: {JobRequeue: 0}}",
    severity=Severity.WARNING,
)
def spot_without_requeue(outline: Outline) -> Iterator[Problem]:
    """A machine that is taken back ends its job for good, and nobody starts it again."""
    set_to = {key.lower(): (key, str(value)) for key, value in outline.spec.scheduler.options.items()}
    key, value = set_to.get("jobrequeue", ("", ""))
    spot = [name for name, _ in outline.pools_with(Role.COMPUTE) if outline.capacity(name) == "spot"]
    if value == "0" and spot:
        what = f"jobs on '{spot[0]}' end when a machine is taken back, and are not queued again"
        yield Problem(f"scheduler.options.{key}", what, "Leave it out")


@rule(
    "CW1529",
    "A flex-start run that is too short",
    source="Google Compute Engine, MIG resize requests: 10 minutes to 7 days",
    example="pools: {gpu: {capacity: {model: flex-start, duration: 5 min}}}",
)
def flex_start_too_short(outline: Outline) -> Iterator[Problem]:
    """Google refuses a run that ends before its machines are up."""
    for name, capacity in _pools(outline, GcpSite):
        if capacity.model == "flex-start" and 0 < (capacity.duration or 0) < _LEAST_FLEX_START:
            what = "a flex-start run lasts ten minutes at least"
            yield Problem(f"pools.{name}.capacity.duration", what, "Write `10 min` or more")
