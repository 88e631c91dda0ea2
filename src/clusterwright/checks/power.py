"""Watts: what racks and the cluster can feed and cool."""

from __future__ import annotations

from collections.abc import Iterator

from clusterwright.checks.rule import Problem, rule
from clusterwright.finding import Severity
from clusterwright.plan.outline import Outline

_WATTS = "the machine type's row in the catalog: most that the machine draws, GPUs and host"


def _kw(watts: int) -> str:
    return f"{watts / 1000:g} kW"


@rule(
    "CW1301",
    "A rack draws more than it can feed",
    source=_WATTS,
    example="pools: {gpu: {machine: hgx-h100-8gpu, racks: {nodes_per_rack: 8, power_limit: 40 kW}}}",
)
def rack_over_limit(outline: Outline) -> Iterator[Problem]:
    """Under full load, which is what GPU jobs are, the rack's breaker opens and takes every node with it."""
    for name, pool in outline.spec.pools.items():
        each = outline.watts(name)
        if pool.racks is None or pool.racks.power_limit is None or each is None:
            continue
        nodes = min(pool.racks.nodes_per_rack, outline.count(name))
        drawn = nodes * each
        if drawn > pool.racks.power_limit:
            limit = _kw(pool.racks.power_limit)
            what = f"{nodes} '{pool.machine}' draw {_kw(drawn)}, and the rack feeds {limit}"
            fit = pool.racks.power_limit // each
            remedy = f"Put {fit} in a rack" if fit else "Give the rack more power"
            yield Problem(f"pools.{name}.racks.nodes_per_rack", what, remedy)


@rule(
    "CW1302",
    "The cluster draws more than it may",
    source=_WATTS,
    example="power_limit: 20 kW, pools: {gpu: {machine: hgx-h100-8gpu, count: 4}}",
)
def cluster_over_limit(outline: Outline) -> Iterator[Problem]:
    """The sum of what all machines draw at most is above what the description allows."""
    limit = outline.spec.power_limit
    drawn = sum(outline.count(name) * (outline.watts(name) or 0) for name in outline.spec.pools)
    if limit is not None and drawn > limit:
        what = f"the machines draw {_kw(drawn)}, and {_kw(limit)} is allowed"
        yield Problem("power_limit", what, "Describe fewer machines, or raise the limit")


@rule(
    "CW1303",
    "A power limit that cannot be checked",
    source="an unknown fact stays unknown in the catalog: no source tells what this machine draws",
    example="power_limit: 20 kW, pools: {gpu: {machine: p5.48xlarge}}",
    severity=Severity.WARNING,
)
def power_unknown(outline: Outline) -> Iterator[Problem]:
    """The limit is compared with what is known; machines of unknown draw count as nothing."""
    for name, pool in outline.spec.pools.items():
        row = outline.hardware[name]
        limited = outline.spec.power_limit or (pool.racks and pool.racks.power_limit)
        if limited and row is not None and outline.watts(name) is None:
            what = f"nobody says what '{row.machine}' draws, so the power limit leaves it out"
            yield Problem(f"pools.{name}.machine", what, "Add its watts to the catalog, or drop the limit")
