"""The search against trying everything: it finds the best answer, and an answer whenever there is one."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from clusterwright.plan.software.conflict import conflict, smallest
from clusterwright.plan.software.problem import Candidate, Demand, Problem
from clusterwright.plan.software.question import Given
from clusterwright.plan.software.search import best, search


@st.composite
def problems(draw: st.DrawFn, least: int = 0) -> Problem:
    """Up to five identifiers in two pools, up to four candidates each, and demands at random."""
    names = draw(st.permutations(["a@x", "b@x", "c@x", "a@y", "a"]))[: draw(st.integers(2, 5))]
    candidates = {
        name: tuple(Candidate(None, str(number)) for number in range(draw(st.integers(1, 4)))) for name in names
    }
    demands = []
    for number in range(draw(st.integers(least, 12))):
        source = draw(st.sampled_from(["", *names]))
        target = draw(st.sampled_from([name for name in names if name != source]))
        allowed = draw(st.integers(0 if source else 1, (1 << len(candidates[target])) - 1))
        when = draw(st.integers(1, (1 << len(candidates[source])) - 1)) if source else 0
        demands.append(Demand(Given(target, "", f"reason {number}"), target, allowed, source, when))
    return Problem(candidates, tuple(demands))


def holds(problem: Problem, answer: dict[str, int]) -> bool:
    return all(
        demand.allowed >> answer[demand.target] & 1
        for demand in problem.demands
        if not demand.source or demand.when >> answer[demand.source] & 1
    )


def tried(problem: Problem) -> dict[str, int] | None:
    """The first answer in the order of preference, by trying every one."""
    names = list(problem.candidates)
    for numbers in product(*(range(len(problem.candidates[name])) for name in names)):
        answer = dict(zip(names, numbers, strict=True))
        if holds(problem, answer):
            return answer
    return None


@given(problems())
@settings(max_examples=1500, deadline=None)
def test_it_finds_the_best_answer_if_there_is_one(problem: Problem) -> None:
    found = best(problem)
    expected = tried(problem)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert {name: int(one.flavour) for name, one in found.items()} == expected
