"""The search, which is resolvelib's: pin an identifier, see what follows, go back where nothing is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, Resolver

from clusterwright.plan.software.problem import Candidate, Problem, bits

_MAX_ROUNDS = 100_000


class _Requirement(NamedTuple):
    identifier: str
    allowed: int


class _Pin(NamedTuple):
    identifier: str
    number: int


class _Provider(AbstractProvider[_Requirement, _Pin, str]):
    """Every demand as a requirement: the set of candidates that it leaves."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._neighbours = _neighbours(list(problem.candidates))

    def identify(self, requirement_or_candidate: _Requirement | _Pin) -> str:
        return requirement_or_candidate.identifier

    def get_preference(self, identifier: str, *_: Any, **__: Any) -> int:
        return self._problem.order[identifier]

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[_Requirement]],
        incompatibilities: Mapping[str, Iterator[_Pin]],
    ) -> Sequence[_Pin]:
        mask = self._problem.everything(identifier)
        for requirement in requirements[identifier]:
            mask &= requirement.allowed
        for pin in incompatibilities[identifier]:
            mask &= ~(1 << pin.number)
        return [_Pin(identifier, index) for index in bits(mask)]

    def is_satisfied_by(self, requirement: _Requirement, candidate: _Pin) -> bool:
        return bool(requirement.allowed >> candidate.number & 1)

    def get_dependencies(self, candidate: _Pin) -> Iterable[_Requirement]:
        """What the pin leaves of others, and that it touches its neighbours in the order.

        The latter takes nothing away. It makes resolvelib go back one pin at a time: where it leaps over pins
        that look innocent, it can miss the best answer, and even the only one.
        """
        left = self._problem.follows(candidate.identifier, candidate.number)
        touched = (name for name in self._neighbours[candidate.identifier] if name not in left)
        everything = (_Requirement(name, self._problem.everything(name)) for name in touched)
        return [*(_Requirement(name, mask) for name, mask in left.items()), *everything]


def _neighbours(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {name: (*names[max(0, at - 1) : at], *names[at + 1 : at + 2]) for at, name in enumerate(names)}


def search(problem: Problem) -> Mapping[str, int] | None:
    """The chosen candidate of each identifier, or None where there is no answer."""
    roots = [_Requirement(identifier, mask) for identifier, mask in problem.allowed.items()]
    resolver = Resolver(_Provider(problem), BaseReporter())
    try:
        result = resolver.resolve(roots, max_rounds=_MAX_ROUNDS)
    except ResolutionImpossible:
        return None
    return {identifier: pin.number for identifier, pin in result.mapping.items()}


def best(problem: Problem) -> Mapping[str, Candidate] | None:
    """The answer in which each identifier, in its order, has the best candidate that is left to it."""
    found = search(problem)
    if found is None:
        return None
    return {key: problem.candidates[key][found[key]] for key in problem.candidates}
