"""From when on no job may run on machines that are taken away at a known time."""

from __future__ import annotations

from datetime import datetime, timedelta

from clusterwright.catalog.blocks import minutes_early
from clusterwright.plan.model import ClusterPlan

_MARGIN = timedelta(minutes=10)
"""For epilogs, and for what a job writes when it is told to end."""


def last_moments(plan: ClusterPlan) -> dict[str, str]:
    """By pool of compute nodes, in UTC."""
    return {
        name: _last(pool.capacity.ends, pool.machine)
        for name, pool in sorted(plan.spec.pools.items())
        if pool.capacity and pool.capacity.ends and "compute" in pool.roles
    }


def _last(ends: str, machine: str) -> str:
    last = datetime.fromisoformat(ends) - timedelta(minutes=minutes_early(machine)) - _MARGIN
    return last.strftime("%Y-%m-%dT%H:%M:%SZ")
