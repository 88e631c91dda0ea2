"""The search against trying everything: it finds the best answer, and an answer whenever there is one."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterwright.plan.software.problem import Candidate, Demand, Problem
from clusterwright.plan.software.question import Given
from clusterwright.plan.software.search import best


@st.composite
def problems(draw: st.DrawFn, least: int = 0) -> Problem:
    """Up to five identifiers in two pools, up to four candidates each, and demands at random."""
    names = draw(st.permutations(["a@x", "b@x", "c@x", "a@y", "a"]))[: draw(st.integers(2, 5))]
    candidates = {
        name: tuple(Candidate(None, str(number)) for number in range(draw(st.integers(1, 4))))
        for name in names
    }
    demands = []
    for number in range(draw(st.integers(least, 12))):
        source = draw(st.sampled_from(["", *names]))
        target = draw(st.sampled_from([name for name in names if name != source]))
        masks = st.integers(0, (1 << len(candidates[target])) - 1)
        cases = [(1, draw(masks))]
        if source:
            groups = draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))
            of_group = (sum(1 << bit for bit, group in enumerate(groups) if group == one) for one in (1, 2))
            cases = [(when, draw(masks)) for when in of_group if when]
        demands.append(Demand(Given(target, "", f"reason {number}"), target, tuple(cases), source))
    return Problem(candidates, tuple(demands))


def holds(problem: Problem, answer: dict[str, int]) -> bool:
    """Two cases at most: where the source is one of the first, the target is one of the second."""
    return all(
        allowed >> answer[demand.target] & 1
        for demand in problem.demands
        for when, allowed in demand.cases
        if not demand.source or when >> answer[demand.source] & 1
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
@settings(max_examples=400, deadline=None)
def test_it_finds_the_best_answer_if_there_is_one(problem: Problem) -> None:
    found = best(problem)
    expected = tried(problem)
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert {name: int(one.flavour) for name, one in found.items()} == expected


@pytest.mark.parametrize("seed", [1017053, 1063490])
def test_nothing_is_leapt_over(seed: int) -> None:
    """resolvelib by itself finds no answer to the first of these, and not the best one to the second."""
    chance = Random(seed)
    names = [f"{number}@x" for number in range(chance.randint(6, 10))]
    candidates = {
        name: tuple(Candidate(None, str(number)) for number in range(chance.randint(3, 5))) for name in names
    }
    demands = []
    for number in range(chance.randint(10, 26)):
        source, target = chance.sample(names, 2)
        groups = [chance.randint(0, 2) for _ in candidates[source]]
        of_group = [sum(1 << bit for bit, group in enumerate(groups) if group == one) for one in (1, 2)]
        masks = (1, (1 << len(candidates[target])) - 1)
        cases = tuple((when, chance.randint(*masks)) for when in of_group if when)
        demands.append(Demand(Given(target, "", f"reason {number}"), target, cases, source))
    problem = Problem(candidates, tuple(demands))
    found = best(problem)
    assert found is not None
    assert {name: int(one.flavour) for name, one in found.items()} == tried(problem)
