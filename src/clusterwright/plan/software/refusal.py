"""Why there is no lock: mistakes in the wishes, and conflicts with what can be given up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from clusterwright.catalog.distributions import distributions
from clusterwright.catalog.software import SoftwareCatalog
from clusterwright.finding import Finding, Where
from clusterwright.plan.software.conflict import conflict, sentence, wishes_of
from clusterwright.plan.software.presence import suits
from clusterwright.plan.software.problem import component_of, pool_of
from clusterwright.plan.software.question import Question
from clusterwright.plan.software.reason import Reason
from clusterwright.plan.software.search import best, search
from clusterwright.plan.software.stack import stack
from clusterwright.plan.software.wish import Wish, mistakes, unknown


def refusals(question: Question, upgrade: Collection[str], catalog: SoftwareCatalog) -> list[Finding]:
    """What is wrong with the words of a question, whatever fits together."""
    findings = [*mistakes(question.wishes, catalog)]
    for name in upgrade:
        if name not in catalog.components:
            what = f"no component '{name}' is known"
            findings.append(Finding("CW1361", Where(path="--upgrade"), what, unknown(name, catalog)))
    return findings or [*_without_machines(question, catalog)]


def _without_machines(question: Question, catalog: SoftwareCatalog) -> Iterator[Finding]:
    """Wishes that no pool takes up, though no other wish stands instead of them."""
    present = stack(question, catalog).presence
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
                if not wish.pool and suits(wish.component, facts, catalog, strictly=False)
            )
            ways = ["Remove it", *(f"wish for it in pools.{pool}.versions" for pool in possible)]
            yield Finding("CW1364", wish.where, f"{place} that {wish.component} is for", ", or ".join(ways))


def conflicts(question: Question, catalog: SoftwareCatalog) -> Iterator[Finding]:
    """Every conflict, each found after the wishes of those before it are left out."""
    found: list[tuple[Reason, ...]] = []
    left = question
    while search(stack(left, catalog).problem) is None:
        found.append(conflict(stack(left, catalog).problem))
        wishes = wishes_of(found[-1])
        if not wishes:
            break
        left = _without(left, wishes)
    for reasons in found:
        wishes = wishes_of(reasons)
        where = min((wish.where for wish in wishes), default=question.where)
        yield Finding("CW1365", where, sentence(reasons), _remedy(question, left, wishes, catalog))


def _remedy(question: Question, settled: Question, wishes: Sequence[Wish], catalog: SoftwareCatalog) -> str:
    """Which of the wishes can be given up, and what would come of it, once all else is settled."""
    if not wishes:
        return _other_distributions(question, catalog)
    ways = []
    for wish in wishes:
        kept = [one for one in question.wishes if one != wish and one in (*settled.wishes, *wishes)]
        found = best(stack(replace(question, wishes=tuple(kept)), catalog).problem)
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


def _other_distributions(question: Question, catalog: SoftwareCatalog) -> str:
    answered = [
        one
        for one in sorted(distributions())
        if one != question.distribution
        and search(stack(replace(question, distribution=one), catalog).problem) is not None
    ]
    if answered:
        return f"Take another distribution: {', '.join(answered)}"
    return "No distribution has an answer; the catalog of software may lack a release"


def _without(question: Question, wishes: Sequence[Wish]) -> Question:
    return replace(question, wishes=tuple(wish for wish in question.wishes if wish not in wishes))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
