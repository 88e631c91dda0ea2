"""What is asked of the solver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clusterwright.finding import Where
from clusterwright.plan.software.traits import PoolFacts
from clusterwright.plan.software.wish import Wish


@dataclass(frozen=True, slots=True)
class Given:
    """A version that is settled already: what is chosen fits it, and it is not for the lock to install."""

    component: str
    accepts: str
    why: str

    def __str__(self) -> str:
        return self.why


@dataclass(frozen=True)
class Question:
    """What a lock has to answer."""

    pools: Mapping[str, PoolFacts]
    wishes: tuple[Wish, ...]
    distribution: str
    where: Where = field(default=Where(path="software.distribution"))
    """Where the distribution is named."""
    given: tuple[Given, ...] = ()
    elsewhere: frozenset[str] = frozenset()
    """Components that come from another place than the catalog knows."""
