"""Machines and wishes in, a lock out; or the smallest reason why there is none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from clusterwright.catalog import software
from clusterwright.catalog.software import SoftwareCatalog
from clusterwright.finding import Refused
from clusterwright.plan.software.assemble import Assembly
from clusterwright.plan.software.lock import Lock
from clusterwright.plan.software.question import Given, Question
from clusterwright.plan.software.refusal import conflicts, refusals
from clusterwright.plan.software.search import best
from clusterwright.plan.software.stack import stack
from clusterwright.plan.software.traits import PoolFacts
from clusterwright.plan.software.wish import Wish


def solve(
    pools: Mapping[str, PoolFacts],
    wishes: Sequence[Wish],
    distribution: str,
    previous: Lock | None = None,
    *,
    given: Sequence[Given] = (),
    elsewhere: frozenset[str] = frozenset(),
    upgrade: Collection[str] | None = (),
    catalog: SoftwareCatalog | None = None,
) -> Lock:
    """Choose a release of every component that a pool needs.

    What `previous` has is kept where it can be, apart from the components in `upgrade`; None upgrades all.
    Raises Refused with every mistake in the wishes, or with each conflict in words.
    """
    question = Question(pools, tuple(wishes), distribution, given=tuple(given), elsewhere=elsewhere)
    return answer(question, previous, upgrade=upgrade, catalog=catalog)


def answer(
    question: Question,
    previous: Lock | None = None,
    *,
    upgrade: Collection[str] | None = (),
    catalog: SoftwareCatalog | None = None,
) -> Lock:
    """The same for a question, such as a description asks it."""
    known = catalog or software.catalog()
    findings = refusals(question, upgrade or (), known)
    if findings:
        raise Refused(findings)
    asked = stack(question, known, previous, upgrade)
    found = best(asked.problem)
    if found is None:
        raise Refused(conflicts(question, known))
    settled = frozenset(given.component for given in question.given)
    assembly = Assembly(known, question.distribution, question.pools, asked.problem, found, settled)
    pools = {pool: assembly.pool(asked.alike[pool]) for pool in question.pools}
    return Lock(
        distribution=question.distribution,
        architectures={pool: facts.architecture for pool, facts in question.pools.items()},
        repositories=assembly.sources(pools),
        pools=pools,
    )
