"""What holds for every lock, whatever the machines, the distribution and the wishes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from clusterwright.catalog.machines import machines
from clusterwright.catalog.software import accepts, catalog
from clusterwright.finding import Refused, Where
from clusterwright.plan.software.compare import compare
from clusterwright.plan.software.conflict import conflict
from clusterwright.plan.software.lock import Lock, Locked, loads
from clusterwright.plan.software.problem import Candidate, Problem
from clusterwright.plan.software.question import Question
from clusterwright.plan.software.search import best, search
from clusterwright.plan.software.solve import answer
from clusterwright.plan.software.stack import stack
from clusterwright.plan.software.wish import Wish

from .case import facts

MACHINES = [*sorted(name for name, row in machines().items() if row.gpus), "generic-x86-16c"]
DISTRIBUTIONS = sorted(
    {name for one in catalog().components for row in catalog().releases(one) for name in row.distributions}
)
POOLS = ["alpha", "beta", "gamma", "delta"]
thorough = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def wishes(draw: st.DrawFn, pools: Sequence[str]) -> Wish:
    """A wish for something that was released once."""
    component = draw(st.sampled_from([name for name in catalog().components if catalog().releases(name)]))
    release = draw(st.sampled_from(catalog().releases(component)))
    public = release.version.partition("+")[0]  # a range cannot end at somebody's own build
    numbers = public.split(".")
    prefix = ".".join(numbers[: draw(st.integers(1, len(numbers)))])
    text = draw(st.sampled_from(["any", prefix, release.version, f">={prefix}", f"<{public}"]))
    pool = draw(st.sampled_from(["", "", *pools]))
    return Wish(component, text, Where(path=f"{pool or 'software'}.versions.{component}"), pool)


@st.composite
def questions(draw: st.DrawFn, least_wishes: int = 0) -> Question:
    names = draw(st.lists(st.sampled_from(MACHINES), min_size=1, max_size=4))
    pools = dict(zip(POOLS, map(facts, names), strict=False))
    asked = draw(st.lists(wishes(list(pools)), min_size=least_wishes, max_size=4))
    by_field = {(wish.pool, wish.component): wish for wish in asked}
    return Question(pools, tuple(by_field.values()), draw(st.sampled_from(DISTRIBUTIONS)))


def lock_of(question: Question, previous: Lock | None = None, upgrade: Sequence[str] = ()) -> Lock:
    """The lock of a question that has one."""
    try:
        return answer(question, previous, upgrade=upgrade)
    except Refused:
        assume(False)
        raise


@given(questions())
@thorough
def test_every_rule_holds(question: Question) -> None:
    """Read from the tables again, without the solver's own demands."""
    lock = lock_of(question)
    for pool, rows in lock.pools.items():
        for component, locked in rows.items():
            assert releases_of(component, locked, question, pool), f"{component} is not released there"
        for rule in catalog().rules:
            mine, needs = rows.get(rule.component), rows.get(rule.needs)
            if mine is None or not accepts(rule.versions, mine.version):
                continue
            assert needs or rule.kind == "constrains", rule
            if needs:
                same = rule.accepts == "same"
                assert mine.version == needs.version if same else accepts(rule.accepts, needs.version), rule
        for hardware in catalog().hardware_rules:
            if hardware.trait in question.pools[pool].traits and hardware.kind != "suits":
                found = rows.get(hardware.component)
                assert found or hardware.kind == "constrains", hardware
                if found:
                    assert accepts(hardware.accepts, found.version), hardware
                    assert found.flavour == (hardware.flavour or found.flavour), hardware
    for component, row in catalog().components.items():
        versions = {rows[component].version for rows in lock.pools.values() if component in rows}
        assert len(versions) <= 1 or row.scope == "pool", component


def releases_of(component: str, locked: Locked, question: Question, pool: str) -> list[object]:
    cuda = {f"cuda{major}": major for major in ("11", "12", "13", "14")}
    return [
        release
        for release in catalog().releases(component)
        if release.version == locked.version
        and release.fits(question.distribution, question.pools[pool].architecture)
        and (
            locked.flavour in (release.flavours or ("",))
            or ("cuda", cuda.get(locked.flavour)) in release.built_for
        )
    ]


@given(questions(least_wishes=1))
@thorough
def test_every_wish_is_fulfilled_where_it_is_meant(question: Question) -> None:
    lock = lock_of(question)
    for wish in question.wishes:
        own = {one.pool for one in question.wishes if one.component == wish.component}
        shared = catalog().components[wish.component].scope == "cluster"
        for pool, rows in lock.pools.items():
            means = wish.pool == pool or (not wish.pool and (shared or pool not in own))
            locked = rows.get(wish.component)
            if means and locked:
                release = next(r for r in catalog().releases(wish.component) if r.version == locked.version)
                assert wish.admits(release, locked.flavour)
            assert locked or wish.pool != pool


@given(questions(least_wishes=1), st.data())
@thorough
def test_without_a_wish_it_is_never_unsolvable_and_never_worse(
    question: Question, data: st.DataObject
) -> None:
    gone = data.draw(st.sampled_from(question.wishes))
    assume(sum(wish.component == gone.component for wish in question.wishes) == 1)
    before = best(stack(question, catalog()).problem)
    assume(before is not None)
    freed = stack(
        replace(question, wishes=tuple(wish for wish in question.wishes if wish != gone)), catalog()
    ).problem
    after = best(freed)
    assert after is not None
    assert before is not None
    assert ranks(freed, after) <= ranks(freed, before)


def ranks(problem: Problem, chosen: Mapping[str, Candidate]) -> list[int]:
    """How far from the best each identifier is, in the order of choice."""
    return [rows.index(chosen[identifier]) for identifier, rows in problem.candidates.items()]


@given(questions(least_wishes=2))
@thorough
def test_a_conflict_is_as_small_as_it_can_be(question: Question) -> None:
    problem = stack(question, catalog()).problem
    assume(search(problem) is None)
    reasons = conflict(problem)
    assert search(problem.only(set(reasons))) is None
    for reason in reasons:
        assert search(problem.only(set(reasons) - {reason})) is not None, str(reason)


@given(questions(least_wishes=2))
@thorough
def test_without_the_wishes_of_its_conflicts_a_question_has_an_answer(question: Question) -> None:
    plain = replace(question, wishes=())
    assume(search(stack(plain, catalog()).problem) is not None)
    try:
        answer(question)
    except Refused as refused:
        said = " ".join(finding.what for finding in refused.findings)
        if "CW1365" in {finding.code for finding in refused.findings}:
            rest = tuple(wish for wish in question.wishes if f"({wish.where.path})" not in said)
            assert search(stack(replace(question, wishes=rest), catalog()).problem) is not None


@given(questions())
@thorough
def test_the_same_again_changes_nothing(question: Question) -> None:
    lock = lock_of(question)
    assert loads(lock.text()) == lock
    assert answer(question, lock).text() == lock.text()
    shuffled = replace(question, wishes=question.wishes[::-1], pools=dict(reversed(question.pools.items())))
    assert dict(answer(shuffled).pools) == dict(lock.pools)


@given(questions(least_wishes=1))
@thorough
def test_a_wish_that_is_taken_back_leaves_the_lock_as_it_is(question: Question) -> None:
    """Only components that nothing needs any more may go."""
    before = lock_of(question)
    after = answer(replace(question, wishes=()), before)
    assert all(not difference.after for difference in compare(before, after))


@given(questions(least_wishes=1), st.data())
@thorough
def test_an_upgrade_of_one_moves_it_to_the_newest_that_fits(question: Question, data: st.DataObject) -> None:
    held = lock_of(question)
    free = replace(question, wishes=())
    kept = answer(free, held)
    names = sorted({name for rows in kept.pools.values() for name in rows})
    assume(names)
    name = data.draw(st.sampled_from(names))
    moved = answer(free, kept, upgrade=[name])
    fresh = answer(free, None, upgrade=[name])
    for pool, rows in fresh.pools.items():
        if name in rows:
            assert moved.pools[pool][name].version == rows[name].version
    again = answer(free, moved, upgrade=[name])
    assert again.text() == moved.text()


def test_the_whole_is_upgraded_at_once() -> None:
    question = Question({"gpu": facts("hgx-h100-8gpu")}, (), "ubuntu-24.04")
    held = replace(question, wishes=(Wish("driver", "570", Where(path="software.versions.driver")),))
    before = answer(held)
    assert answer(question, before).pools["gpu"]["driver"].version.startswith("570.")
    assert answer(question, before, upgrade=None).text() == answer(question).text()
