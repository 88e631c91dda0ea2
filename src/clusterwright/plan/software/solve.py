"""Machines and wishes in, a lock out; or the smallest reason why there is none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clusterwright.catalog import software
from clusterwright.catalog.software import SoftwareCatalog
from clusterwright.finding import Finding, Refused, Where
from clusterwright.plan.software.assemble import Assembly
from clusterwright.plan.software.conflict import conflict, sentence
from clusterwright.plan.software.demands import Stack
from clusterwright.plan.software.lock import Lock
from clusterwright.plan.software.presence import Presence, presence
from clusterwright.plan.software.question import Given, Question
from clusterwright.plan.software.reason import Reason, Wished
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
    question = Question(pools, tuple(wishes), distribution, tuple(given), elsewhere)
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
        alike = _alike(question.pools, stack.presence, previous)
        pools = {pool: assembly.pool(alike[pool]) for pool in question.pools}
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
        present = self.stack(question).presence
        meant = {wish for one in present.values() for wishes in one.wishes.values() for wish in wishes}
        overridden = {(wish.component) for wish in question.wishes if wish.pool}
        for wish in question.wishes:
            if wish not in meant and wish.component not in {*question.elsewhere, *overridden}:
                what = f"no pool has machines that {wish.component} is for"
                remedy = "Remove it, or name it in the `versions` of the pool that you mean"
                yield Finding("CW1364", wish.where, what, remedy)

    def _conflicts(self, question: Question) -> Iterator[Finding]:
        """Every conflict, each found after the wishes of those before it are left out."""
        left = question
        while search(self.stack(left).problem) is None:
            reasons = conflict(self.stack(left).problem)
            wishes = [reason.wish for reason in reasons if isinstance(reason, Wished)]
            where = min((wish.where for wish in wishes), default=Where(path="software.distribution"))
            yield Finding("CW1365", where, sentence(reasons), self._remedy(question, reasons))
            if not wishes:
                return
            left = replace(left, wishes=tuple(wish for wish in left.wishes if wish not in wishes))

    def _remedy(self, question: Question, reasons: Sequence[Reason]) -> str:
        """What can be given up, and what would come of it."""
        ways = []
        for reason in reasons:
            if isinstance(reason, Wished):
                rest = replace(question, wishes=tuple(w for w in question.wishes if w != reason.wish))
                answer = best(self.stack(rest).problem)
                if answer is not None:
                    found = {
                        candidate.version
                        for identifier, candidate in answer.items()
                        if identifier.partition("@")[0] == reason.wish.component and candidate.version
                    }
                    would = f" (it would be {' or '.join(sorted(found))})" if found else ""
                    ways.append(f"remove {reason.wish.where.path}{would}")
        if ways:
            return _sentence(", or ".join(ways))
        if any(isinstance(reason, Wished) for reason in reasons):
            return "Remove these wishes; there is more than one conflict"
        return self._other_distributions(question)

    def _other_distributions(self, question: Question) -> str:
        known = {
            distribution
            for component in self.catalog.components
            for release in self.catalog.releases(component)
            for distribution in release.distributions
        }
        answered = [
            one
            for one in sorted(known - {question.distribution})
            if search(self.stack(replace(question, distribution=one)).problem) is not None
        ]
        if answered:
            return f"Take another distribution: {', '.join(answered)}"
        return "No distribution has an answer; the catalog of software may lack a release"


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
