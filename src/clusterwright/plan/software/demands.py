"""From machines, wishes and the catalog to a problem: each fact and each wish is a demand with its reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from clusterwright.catalog.software import SoftwareCatalog, accepts
from clusterwright.catalog.software_rows import Rule
from clusterwright.plan.software.prefer import needed_first, preferred_of, ranked
from clusterwright.plan.software.presence import Presence
from clusterwright.plan.software.problem import Candidate, Case, Demand, Problem, always, identifier_of
from clusterwright.plan.software.question import Given
from clusterwright.plan.software.reason import Between, BuiltFor, Carried, Machine, OneVersion, Wished
from clusterwright.plan.software.traits import PoolFacts
from clusterwright.plan.software.wish import Wish, summary

Test = Callable[[Candidate], bool]
Previous = Callable[[str, str], tuple[str, str] | None]
"""Pool and component → version and flavour that it has now, as far as they are to be kept."""


@dataclass(frozen=True)
class Stack:
    """Everything that a problem is made of."""

    catalog: SoftwareCatalog
    distribution: str
    pools: Mapping[str, PoolFacts]
    alike: Mapping[str, str]
    """For each pool that was asked for, the one among `pools` that has the same answer."""
    presence: Mapping[str, Presence]
    given: tuple[Given, ...]
    previous: Previous
    first: frozenset[str]
    """Components that are chosen before all others, because they are to be upgraded."""

    @cached_property
    def problem(self) -> Problem:
        return Problem(self._candidates, tuple(self._demands()))

    @cached_property
    def _candidates(self) -> Mapping[str, tuple[Candidate, ...]]:
        """In the order of choice: what is there in any case, before what a version may bring with it."""
        order = {name: place for place, name in enumerate(needed_first(self.catalog))}
        chosen: list[tuple[tuple[bool, bool, int], str, str]] = []
        for pool, presence in self.presence.items():
            for name in presence.possible:
                rank = (name not in self.first, name not in presence.certain, order[name])
                chosen.append((rank, name, pool))
        found: dict[str, tuple[Candidate, ...]] = {}
        for _, name, pool in sorted(chosen, key=lambda one: (one[0], one[1])):
            if self._is_shared(name) and name not in found:
                found[name] = self._versions(name)
            found[identifier_of(name, pool)] = self._releases(name, pool)
        return found

    def _is_shared(self, component: str) -> bool:
        return self.catalog.components[component].scope == "cluster"

    def _releases(self, component: str, pool: str) -> tuple[Candidate, ...]:
        candidates = [
            Candidate(release, flavour or _built(release.built_for))
            for release in self.catalog.releases(component)
            for flavour in release.flavours or ("",)
        ]
        preferred = preferred_of(component, self.pools[pool].traits, self.catalog)
        return ranked(candidates, preferred, self.previous(pool, component))

    def _versions(self, component: str) -> tuple[Candidate, ...]:
        """One candidate for each version: what the pools share."""
        versions = {release.version: Candidate(release) for release in self.catalog.releases(component)}
        traits = {trait for facts in self.pools.values() for trait in facts.traits}
        kept = [self.previous(pool, component) for pool in self.pools]
        previous = next(((one[0], "") for one in kept if one), None)
        return ranked(list(versions.values()), preferred_of(component, traits, self.catalog), previous)

    def _mask(self, identifier: str, test: Test, *, or_absent: bool = False) -> int:
        mask = int(or_absent)
        for index, candidate in enumerate(self._candidates[identifier]):
            if candidate.release is not None and test(candidate):
                mask |= 1 << index
        return mask

    def _demands(self) -> Iterator[Demand]:
        for pool in self.pools:
            for component in sorted(self.presence[pool].possible):
                yield from self._carried(pool, component)
                yield from self._built_for(pool, component)
                if self._is_shared(component):
                    yield from self._one_version(pool, component)
            yield from self._machine(pool)
            yield from self._rules(pool)
            yield from self._wishes(pool)
            yield from self._given(pool)

    def _carried(self, pool: str, component: str) -> Iterator[Demand]:
        distribution, architecture = self.distribution, self.pools[pool].architecture

        def fits(one: Candidate) -> bool:
            return one.release is not None and one.release.fits(distribution, architecture)

        releases = self.catalog.releases(component)
        known = [row.version for row in releases if row.fits(distribution, architecture)]
        if len(known) < len(releases) or not known:
            title = self.catalog.components[component].title
            reason = Carried(title, distribution, architecture, summary(known))
            target = identifier_of(component, pool)
            yield always(reason, target, self._mask(target, fits, or_absent=True))

    def _built_for(self, pool: str, component: str) -> Iterator[Demand]:
        """Each release fits the major versions that it is built for, of each component that it names."""
        source = identifier_of(component, pool)
        majors: dict[str, dict[frozenset[str], int]] = {}
        for index, candidate in enumerate(self._candidates[source]):
            for needs, built in _built_for(candidate).items():
                cases = majors.setdefault(needs, {})
                cases[built] = cases.get(built, 0) | 1 << index
        for needs, cases in majors.items():
            target = identifier_of(needs, pool)
            if target in self._candidates:
                titles = self.catalog.components
                reason = BuiltFor(titles[component].title, titles[needs].title)
                masks = {built: self._mask(target, partial(_is_of, built), or_absent=True) for built in cases}
                yield Demand(
                    reason, target, tuple((when, masks[built]) for built, when in cases.items()), source
                )

    def _one_version(self, pool: str, component: str) -> Iterator[Demand]:
        reason = OneVersion(self.catalog.components[component].title)
        source = identifier_of(component, pool)
        yield Demand(reason, component, tuple(self._same(source, component)), source)

    def _same(self, source: str, target: str, *, or_absent: bool = False) -> Iterator[Case]:
        targets = self._by_version(target)
        for version, when in self._by_version(source).items():
            yield when, targets.get(version, 0) | int(or_absent)

    def _by_version(self, identifier: str) -> Mapping[str, int]:
        """Candidates of each version."""
        if identifier not in self._versions_of:
            masks: dict[str, int] = {}
            for index, candidate in enumerate(self._candidates[identifier]):
                if candidate.release is not None:
                    masks[candidate.version] = masks.get(candidate.version, 0) | 1 << index
            self._versions_of[identifier] = masks
        return self._versions_of[identifier]

    @cached_property
    def _versions_of(self) -> dict[str, Mapping[str, int]]:
        return {}

    def _machine(self, pool: str) -> Iterator[Demand]:
        for rule in self.presence[pool].rules:
            target = identifier_of(rule.component, pool)
            if rule.kind == "suits" or target not in self._candidates:
                continue

            def fits(one: Candidate, accepted: str = rule.accepts, flavour: str = rule.flavour) -> bool:
                return accepts(accepted, one.version) and (not flavour or one.flavour == flavour)

            reason = Machine(pool, self.pools[pool].machine, rule)
            yield always(reason, target, self._mask(target, fits, or_absent=rule.kind == "constrains"))

    def _rules(self, pool: str) -> Iterator[Demand]:
        for rule in self.catalog.rules:
            source, target = identifier_of(rule.component, pool), identifier_of(rule.needs, pool)
            if source in self._candidates and target in self._candidates:
                yield from self._rule(rule, source, target)

    def _rule(self, rule: Rule, source: str, target: str) -> Iterator[Demand]:
        or_absent = rule.kind == "constrains"
        when = self._mask(source, lambda one: accepts(rule.versions, one.version))
        if rule.accepts == "same":
            same = self._same(source, target, or_absent=or_absent)
            cases = tuple((when & one, allowed) for one, allowed in same if when & one)
        else:
            allowed = self._mask(target, lambda one: accepts(rule.accepts, one.version), or_absent=or_absent)
            cases = ((when, allowed),)
        yield Demand(Between(rule), target, cases, source)

    def _given(self, pool: str) -> Iterator[Demand]:
        for given in self.given:
            target = identifier_of(given.component, pool)
            if target in self._candidates:

                def fits(one: Candidate, accepted: str = given.accepts) -> bool:
                    return accepts(accepted, one.version)

                yield always(given, target, self._mask(target, fits, or_absent=True))

    def _wishes(self, pool: str) -> Iterator[Demand]:
        """A wish for what the machines demand anyway is about its version; else also that it is there."""
        presence = self.presence[pool]
        for component, wishes in presence.wishes.items():
            target = identifier_of(component, pool)
            for wish in wishes:

                def admits(one: Candidate, wish: Wish = wish) -> bool:
                    return one.release is not None and wish.admits(one.release, one.flavour)

                demanded = component in presence.demanded
                yield always(Wished(wish), target, self._mask(target, admits, or_absent=demanded))


def _built(pairs: Sequence[tuple[str, str]]) -> str:
    return " ".join(f"{component}{major}" for component, major in pairs)


def _built_for(candidate: Candidate) -> Mapping[str, frozenset[str]]:
    """Component → major versions."""
    built: dict[str, frozenset[str]] = {}
    for needs, major in candidate.release.built_for if candidate.release else ():
        built[needs] = built.get(needs, frozenset()) | {major}
    return built


def _is_of(majors: frozenset[str], candidate: Candidate) -> bool:
    return any(f"{candidate.version}.".startswith(f"{major}.") for major in majors)
