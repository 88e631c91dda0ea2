"""What NCCL and MPI must be told about the network between GPUs, as data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from clusterwright.catalog.table import rows

_ANY = "any"


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable. `use`: `set` for every job, `container` inside enroot, `never` by us."""

    fabric: str
    trait: str
    """Only on machines with this trait; empty for all."""
    use: str
    name: str
    """For `never`, a pattern."""
    value: str
    why: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Fabric:
    """A network between GPUs, where the machine has the trait and its stack the component."""

    name: str
    title: str
    trait: str
    component: str
    nccl_net: str
    """NCCL's name of it. Forced, so that a job fails where the fabric is missing instead of using sockets."""
    library: str
    """Where its plug-in for NCCL is, when the loader does not find it itself."""
    script: str
    """The vendor's own settings, to be sourced by bash."""
    source: str
    date: str

    def is_on(self, traits: Collection[str], components: Collection[str]) -> bool:
        return (not self.trait or self.trait in traits) and (
            not self.component or self.component in components
        )

    def settings(self, traits: Collection[str], *uses: str) -> dict[str, str]:
        """Variables for these uses on a machine, sorted by name."""
        chosen = {
            row.name: row.value
            for row in settings()
            if row.use in uses and row.fabric in (_ANY, self.name) and (not row.trait or row.trait in traits)
        }
        if self.nccl_net and "set" in uses:
            chosen["NCCL_NET"] = self.nccl_net
        return dict(sorted(chosen.items()))


@cache
def fabrics() -> tuple[Fabric, ...]:
    """Every fabric; where several are on, the first is the one that jobs use."""
    return tuple(
        Fabric(
            name=row["fabric"],
            title=row["title"],
            trait=row["trait"],
            component=row["component"],
            nccl_net=row["nccl_net"],
            library=row["library"],
            script=row["script"],
            source=row["source"],
            date=row["date"],
        )
        for row in rows("fabrics")
    )


@cache
def settings() -> tuple[Setting, ...]:
    return tuple(
        Setting(
            fabric=row["fabric"],
            trait=row["trait"],
            use=row["use"],
            name=row["setting"],
            value=row["value"],
            why=row["why"],
            source=row["source"],
            date=row["date"],
        )
        for row in rows("fabric_settings")
    )


def fabric_of(traits: Collection[str], components: Collection[str]) -> Fabric:
    """The fabric that jobs use on a machine with these traits and components."""
    return next(fabric for fabric in fabrics() if fabric.is_on(traits, components))
