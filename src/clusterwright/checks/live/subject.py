"""What live rules judge what was seen against: the plan, and what its cloud is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from clusterwright.plan.model import ClusterPlan


class Planned(Protocol):
    """A machine of any cloud's plan."""

    @property
    def name(self) -> str: ...
    @property
    def pool(self) -> str: ...
    @property
    def kind(self) -> str: ...


class Made(Protocol):
    """Any cloud's plan."""

    @property
    def machines(self) -> tuple[Planned, ...]: ...


Cloud = TypeVar("Cloud", bound=Made)


@dataclass(frozen=True)
class Subject(Generic[Cloud]):
    """A cluster whose only site is on this cloud."""

    planned: ClusterPlan
    cloud: Cloud

    def site_field(self, key: str) -> str:
        """Path of a field of the site."""
        name = self.planned.sites[0].name
        return f"sites.{name}.{key}" if name in self.planned.spec.sites else f"site.{key}"

    def capacity(self, pool: str) -> str:
        wanted = self.planned.spec.pools[pool].capacity
        return wanted.model if wanted else "on-demand"

    def cpus(self, machine: str) -> int:
        """As clouds count them: threads."""
        return self.planned.hardware[machine].cpus

    @cached_property
    def nodes(self) -> Mapping[str, tuple[str, ...]]:
        """Names of nodes by pool."""
        pools: dict[str, list[str]] = {}
        for machine in self.cloud.machines:
            pools.setdefault(machine.pool, []).append(machine.name)
        return {pool: tuple(names) for pool, names in pools.items()}

    def longest_job(self, pool: str) -> int | None:
        """Seconds; None where a partition has no limit, 0 where no job runs."""
        wanted = self.planned.spec.pools[pool]
        if "compute" not in wanted.roles:
            return 0
        names = wanted.partitions or [pool]
        limits = [one.max_time for one in self.planned.partitions if one.name in names]
        return None if None in limits else max((one for one in limits if one), default=0)
