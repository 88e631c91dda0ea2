"""Capacity: how machines of a cloud are got, and how long they stay."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.catalog.choice import CLOUDS
from clusterwright.checks.cloud import cloud_pools
from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline
from clusterwright.spec.capacity import Capacity
from clusterwright.spec.pool import Role
from clusterwright.spec.scheduler import Partition

_RESERVED_WAYS = frozenset({"reservation", "capacity-block", "dense"})
_PASSING_WAYS = frozenset({"spot", "capacity-block", "flex-start"})
_BLOCK_ENDS_EARLY = 30 * 60
"""Seconds before its end at which Amazon EC2 begins to terminate what runs in a Capacity Block."""
_FLEX_START_MOST = 7 * 24 * 3600


def _capacities(outline: Outline) -> Iterator[tuple[str, Capacity]]:
    for name, pool in outline.spec.pools.items():
        if pool.capacity is not None:
            yield name, pool.capacity


@rule(
    "CW1334",
    "A way to get machines that there is not",
    source="the catalog of machine types: usage classes of Amazon EC2; consumption options of Google Cloud",
    example="site: {provider: gcp, …}, pools: {gpu: {machine: a4-highgpu-8g}}: never on demand",
)
def capacity_not_offered(outline: Outline) -> Iterator[Problem]:
    """The newest GPUs are sold in some ways only; without `capacity` machines are asked for on demand."""
    for name, _, kind in cloud_pools(outline):
        wanted = outline.capacity(name)
        if kind.capacity and wanted not in kind.capacity:
            given = outline.spec.pools[name].capacity is not None
            field = f"pools.{name}.capacity.model" if given else f"pools.{name}.machine"
            what = f"'{kind.name}' cannot be got as '{wanted}'"
            yield Problem(
                field, what, f"Write `capacity: {{model: …}}` with one of: {', '.join(kind.capacity)}"
            )


@rule(
    "CW1335",
    "A reservation that is missing, or of no use",
    source="Amazon EC2: CapacityReservationId of the target; Google Compute Engine: reservations by name",
    example="pools: {gpu: {capacity: {model: capacity-block}}}",
)
def reservation_and_model_disagree(outline: Outline) -> Iterator[Problem]:
    """Machines would be asked for outside of what was paid for, or not be made at all."""
    for name, capacity in _capacities(outline):
        reserved_way = capacity.model in _RESERVED_WAYS
        if reserved_way and capacity.reservation is None:
            what = f"'{capacity.model}' needs the reservation that was bought"
            yield Problem(f"pools.{name}.capacity.model", what, "Add `reservation` with its ID or name")
        elif not reserved_way and capacity.reservation is not None:
            what = f"'{capacity.model}' takes nothing from a reservation"
            remedy = f"Take one of: {', '.join(sorted(_RESERVED_WAYS))}, or leave `reservation` out"
            yield Problem(f"pools.{name}.capacity.reservation", what, remedy)


@rule(
    "CW1336",
    "What holds the cluster together may be taken away",
    source="Amazon EC2 Spot and Capacity Blocks, Google Cloud Spot and Flex-start: they end, asked or not",
    example="pools: {controller: {roles: controller, capacity: {model: spot}}}",
    severity=Severity.WARNING,
)
def controller_may_be_taken(outline: Outline) -> Iterator[Problem]:
    """Without controller, storage or login node every job of the cluster stops, or nobody can reach it."""
    for name, capacity in _capacities(outline):
        held = [role.value for role in outline.spec.pools[name].roles if role is not Role.COMPUTE]
        if held and capacity.model in _PASSING_WAYS:
            what = f"nodes with the role {', '.join(held)} are got as '{capacity.model}' and go away"
            yield Problem(f"pools.{name}.capacity.model", what, "Take them on demand or from a reservation")


@rule(
    "CW1337",
    "Jobs may outlast their machines",
    source="Amazon EC2 User Guide, Capacity Blocks: termination begins 30 minutes before the end",
    example="pools: {gpu: {capacity: {duration: 1 day, …}}}, partitions: {gpu: {max_time: 7 days}}",
    severity=Severity.WARNING,
)
def jobs_outlast_machines(outline: Outline) -> Iterator[Problem]:
    """A job that is longer than the time that was bought never finishes, whenever it starts."""
    settings = outline.spec.scheduler.partitions
    for name, capacity in _capacities(outline):
        if capacity.duration is None or Role.COMPUTE not in outline.spec.pools[name].roles:
            continue
        usable = capacity.duration - (_BLOCK_ENDS_EARLY if capacity.model == "capacity-block" else 0)
        for partition in outline.spec.pools[name].partitions or [name]:
            longest = settings.get(partition, Partition()).max_time
            if longest is None or longest > usable:
                told = "no limit" if longest is None else f"jobs of {longest / 3600:g} h"
                what = f"machines stay for {usable / 3600:g} h, and the partition '{partition}' has {told}"
                remedy = f"Give it a `max_time` of {usable // 3600} h or less"
                yield Problem(f"pools.{name}.capacity.duration", what, remedy)


@rule(
    "CW1344",
    "Nobody says when a Capacity Block ends",
    source="Amazon EC2 User Guide, Capacity Blocks: termination begins 30 minutes before the end",
    example="pools: {gpu: {capacity: {model: capacity-block, reservation: cr-…, duration: 14 days}}}",
    severity=Severity.WARNING,
)
def block_has_no_end(outline: Outline) -> Iterator[Problem]:
    """Slurm starts jobs that Amazon ends in their middle, unless it knows the time."""
    for name, capacity in _capacities(outline):
        block = capacity.model == "capacity-block" and Role.COMPUTE in outline.spec.pools[name].roles
        if block and capacity.ends is None:
            what = "Slurm is not told when this Capacity Block ends, and starts jobs that will not"
            remedy = "Add `ends` as EC2's console shows it, in UTC, for instance `2026-12-14T11:30Z`"
            yield Problem(f"pools.{name}.capacity.model", what, remedy)
        elif capacity.ends is not None and capacity.model != "capacity-block":
            what = f"machines that are got as '{capacity.model}' do not end at a time that is known before"
            yield Problem(f"pools.{name}.capacity.ends", what, "Leave it out")


@rule(
    "CW1338",
    "A duration that is missing, of no use, or too long",
    source="Google Compute Engine, MIG resize requests: 10 minutes to 7 days; Amazon EC2 Capacity Blocks end",
    example="pools: {gpu: {capacity: {model: flex-start, duration: 30 days}}}",
)
def duration_and_model_disagree(outline: Outline) -> Iterator[Problem]:
    """What ends needs its end to be known, so that nobody is surprised by it; what stays has none."""
    for name, capacity in _capacities(outline):
        ends = capacity.model in {"capacity-block", "flex-start"}
        if ends and capacity.duration is None:
            what = f"machines that are got as '{capacity.model}' end, and nobody says when"
            yield Problem(f"pools.{name}.capacity.model", what, "Add `duration`, for instance `7 days`")
        elif not ends and capacity.duration is not None:
            what = f"machines that are got as '{capacity.model}' have no duration"
            yield Problem(f"pools.{name}.capacity.duration", what, "Leave it out")
        elif capacity.model == "flex-start" and (capacity.duration or 0) > _FLEX_START_MOST:
            what = "a flex-start run lasts seven days at most"
            yield Problem(f"pools.{name}.capacity.duration", what, "Write `7 days` or less")


@rule(
    "CW1339",
    "Capacity where no cloud is asked",
    source="machines of one's own and of the lab are there or not",
    example="site: {provider: onprem}, pools: {gpu: {capacity: {model: spot}}}",
)
def capacity_without_a_cloud(outline: Outline) -> Iterator[Problem]:
    """It would do nothing, and its reader would believe that it does."""
    for name, _ in _capacities(outline):
        site = outline.sites.get(outline.site_names[name] or "")
        if site is not None and site.provider not in CLOUDS:
            what = f"the site is of '{site.provider}', where nobody is asked for machines"
            yield Problem(f"pools.{name}.capacity", what, "Leave `capacity` out")
