"""Machines and wishes in, a lock out; or the smallest reason why there is none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clusterwright.catalog import software
from clusterwright.catalog.distributions import distributions
from clusterwright.catalog.software import SoftwareCatalog
from clusterwright.finding import Finding, Refused, Where
from clusterwright.plan.software.assemble import Assembly
from clusterwright.plan.software.conflict import conflict, sentence, wishes_of
from clusterwright.plan.software.demands import Stack
from clusterwright.plan.software.lock import Lock
from clusterwright.plan.software.presence import Presence, presence, suits
from clusterwright.plan.software.problem import component_of, pool_of
from clusterwright.plan.software.question import Given, Question
from clusterwright.plan.software.reason import Reason
from clusterwright.plan.software.search import best, search
from clusterwright.plan.software.traits import PoolFacts
from clusterwright.plan.software.wish import Wish, mistakes, unknown


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
    return _Solver(catalog or software.catalog()).solve(question, previous, upgrade)


def stack(question: Question, catalog: SoftwareCatalog | None = None) -> Stack:
    """What a question comes to before anything is chosen."""
    return _Solver(catalog or software.catalog()).stack(question)


@dataclass(frozen=True)
class _Solver:
    """Asks one catalog."""

    catalog: SoftwareCatalog

    def solve(self, question: Question, previous: Lock | None, upgrade: Collection[str] | None) -> Lock:
        self._refuse_mistakes(question, upgrade)
        stack = self.stack(question, previous, upgrade)
        found = best(stack.problem)
        if found is None:
            raise Refused(self._conflicts(question))
        assembly = Assembly(self.catalog, question.distribution, question.pools, stack.problem, found)
        pools = {pool: assembly.pool(stack.alike[pool]) for pool in question.pools}
        return Lock(
            distribution=question.distribution,
            architectures={pool: facts.architecture for pool, facts in question.pools.items()},
            repositories=assembly.sources(pools),
            pools=pools,
        )

    def stack(
        self, question: Question, previous: Lock | None = None, upgrade: Collection[str] | None = ()
    ) -> Stack:
        """Everything that there is to choose from, and all demands. Pools that are alike are asked once."""

        def kept(pool: str, component: str) -> tuple[str, str] | None:
            if previous is None or upgrade is None or component in upgrade:
                return None
            locked = previous.pools.get(pool, {}).get(component)
            return (locked.version, locked.flavour) if locked else None

        present = {
            pool: presence(pool, facts, question.wishes, self.catalog, question.elsewhere)
            for pool, facts in question.pools.items()
        }
        alike = _alike(question.pools, present, previous)
        asked = {pool: facts for pool, facts in question.pools.items() if alike[pool] == pool}
        return Stack(
            self.catalog,
            question.distribution,
            asked,
            alike,
            {pool: present[pool] for pool in asked},
            question.given,
            kept,
            frozenset(upgrade or ()),
        )

    def _refuse_mistakes(self, question: Question, upgrade: Collection[str] | None) -> None:
        findings = [*mistakes(question.wishes, self.catalog)]
        for name in upgrade or ():
            if name not in self.catalog.components:
                what = f"no component '{name}' is known"
                findings.append(Finding("CW1361", Where(path="--upgrade"), what, unknown(name, self.catalog)))
        if findings:
            raise Refused(findings)
        findings += self._without_machines(question)
        if findings:
            raise Refused(findings)

    def _without_machines(self, question: Question) -> Iterator[Finding]:
        """Wishes that no pool takes up, though no other wish stands instead of them."""
        present = self.stack(question).presence
        meant = {wish for one in present.values() for wishes in one.wishes.values() for wish in wishes}
        overridden = {wish.component for wish in meant if wish.pool}
        for wish in question.wishes:
            if wish.component in question.elsewhere:
                what = f"{wish.component} comes from a repository of your own"
                yield Finding("CW1369", wish.where, what, "Remove the wish, or the repository")
            elif wish not in meant and (wish.pool or wish.component not in overridden):
                place = f"pool '{wish.pool}' has no machines" if wish.pool else "no pool has machines"
                possible = (
                    pool
                    for pool, facts in question.pools.items()
                    if not wish.pool and suits(wish.component, facts, self.catalog, strictly=False)
                )
                ways = ["Remove it", *(f"wish for it in pools.{pool}.versions" for pool in possible)]
                yield Finding(
                    "CW1364", wish.where, f"{place} that {wish.component} is for", ", or ".join(ways)
                )

    def _conflicts(self, question: Question) -> Iterator[Finding]:
        """Every conflict, each found after the wishes of those before it are left out."""
        found: list[tuple[Reason, ...]] = []
        left = question
        while search(self.stack(left).problem) is None:
            found.append(conflict(self.stack(left).problem))
            wishes = wishes_of(found[-1])
            if not wishes:
                break
            left = _without(left, wishes)
        for reasons in found:
            wishes = wishes_of(reasons)
            where = min((wish.where for wish in wishes), default=question.where)
            yield Finding("CW1365", where, sentence(reasons), self._remedy(question, left, wishes))

    def _remedy(self, question: Question, settled: Question, wishes: Sequence[Wish]) -> str:
        """Which of the wishes can be given up, and what would come of it, once all else is settled."""
        if not wishes:
            return self._other_distributions(question)
        ways = []
        for wish in wishes:
            kept = [one for one in question.wishes if one != wish and one in (*settled.wishes, *wishes)]
            found = best(self.stack(replace(question, wishes=tuple(kept))).problem)
            if found is not None:
                versions = {
                    one.version
                    for identifier, one in found.items()
                    if component_of(identifier) == wish.component
                    and (pool_of(identifier) == wish.pool or not wish.pool)
                    and one.version
                }
                would = f" (it would be {' or '.join(sorted(versions))})" if versions else ""
                ways.append(f"remove {wish.where.path}{would}")
        return _sentence(", or ".join(ways)) if ways else "No one of these wishes is enough: remove them all"

    def _other_distributions(self, question: Question) -> str:
        answered = [
            one
            for one in sorted(distributions())
            if one != question.distribution
            and search(self.stack(replace(question, distribution=one)).problem) is not None
        ]
        if answered:
            return f"Take another distribution: {', '.join(answered)}"
        return "No distribution has an answer; the catalog of software may lack a release"


def _without(question: Question, wishes: Sequence[Wish]) -> Question:
    return replace(question, wishes=tuple(wish for wish in question.wishes if wish not in wishes))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _alike(
    pools: Mapping[str, PoolFacts], present: Mapping[str, Presence], previous: Lock | None
) -> Mapping[str, str]:
    """For each pool the first that has the same machines, wishes and history."""
    first: dict[object, str] = {}
    found: dict[str, str] = {}
    for pool, facts in pools.items():
        wishes = tuple(wish for wishes in present[pool].wishes.values() for wish in wishes)
        history = previous.pools.get(pool) if previous else None
        before = tuple((name, row.version, row.flavour) for name, row in (history or {}).items())
        found[pool] = first.setdefault((facts, wishes, before), pool)
    return found
