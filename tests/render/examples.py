"""Hand-offs of the example descriptions, for any Slurm release."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from clusterwright.catalog.distributions import distributions
from clusterwright.handoff import Handoff, from_plan
from clusterwright.plan import plan
from clusterwright.spec.load import load

CLUSTERS = Path(__file__).parents[2] / "clusters"
NAMES = tuple(sorted(path.stem for path in CLUSTERS.glob("*.yaml") if not path.stem.endswith(".lock")))


@cache
def _handoff(name: str) -> Handoff:
    return from_plan(plan(load(CLUSTERS / f"{name}.yaml").spec))


def handoff(name: str, release: str) -> Handoff:
    """The example as it would be with this release, from a repository where no distribution carries it."""
    made = _handoff(name)
    carried = any(row.slurm_release == release for row in distributions().values())
    source = "distribution" if carried else "repository"
    return replace(
        made,
        scheduler={**made.scheduler, "release": release},
        software={**made.software, "slurm_source": source},
    )
