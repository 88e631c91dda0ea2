"""What is better: what is there already, else what `defaults.csv` prefers, the newest first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from clusterwright.catalog.software import SoftwareCatalog
from clusterwright.plan.software.problem import ABSENT, Candidate


def ranked(
    candidates: Sequence[Candidate],
    preferred: Sequence[str],
    previous: tuple[str, str] | None,
) -> tuple[Candidate, ...]:
    """Absence first, because nothing is installed that nobody needs; then the best first.

    `candidates` are in the order of their versions. `preferred` are channels and flavours. What it does not
    name comes last: it is taken when somebody asks for it, or where nothing else fits.
    """
    version, flavour = previous or ("", "")
    places = {word: place for place, word in enumerate(preferred)}

    def key(numbered: tuple[int, Candidate]) -> tuple[bool, bool, bool, int, int, int]:
        number, candidate = numbered
        release = candidate.release
        assert release is not None
        position = order[release.version]
        return (
            bool(previous) and candidate.version != version,
            bool(previous) and series(candidate.version) != series(version),
            bool(previous) and candidate.flavour != flavour,
            min(places.get(word, len(places)) for word in (release.channel, candidate.flavour)),
            -position,
            number,
        )

    order: dict[str, int] = {}
    for candidate in candidates:
        order.setdefault(candidate.version, len(order))
    return (ABSENT, *(candidate for _, candidate in sorted(enumerate(candidates), key=key)))


def series(version: str) -> str:
    """The first number: a driver's branch, CUDA's major version."""
    return version.partition(".")[0]


def preferred_of(component: str, traits: Collection[str], catalog: SoftwareCatalog) -> tuple[str, ...]:
    """Preferred channels and flavours, the best first; none where there is nothing to choose.

    A row for a trait of these machines stands before the one for all.
    """
    rows = [row for row in catalog.preferences if row.component == component]
    for_these = (row for row in rows if row.trait in traits)
    for_all = (row for row in rows if not row.trait)
    return next((row.preferred for row in (*for_these, *for_all, *rows)), ())


def needed_first(catalog: SoftwareCatalog) -> tuple[str, ...]:
    """Components in the order in which they are chosen: what others rest on comes before them."""
    rests_on: dict[str, set[str]] = {name: set() for name in catalog.components}
    for rule in catalog.rules:
        rests_on[rule.component].add(rule.needs)
    for name in catalog.components:
        rests_on[name] |= {need for release in catalog.releases(name) for need, _ in release.built_for}
    found: dict[str, None] = {}
    _visit(rests_on, rests_on, found, set())
    return tuple(found)


def _visit(
    names: Iterable[str], rests_on: dict[str, set[str]], found: dict[str, None], open_: set[str]
) -> None:
    for name in sorted(names):
        if name not in found and name not in open_:
            _visit(rests_on[name], rests_on, found, {*open_, name})
            found[name] = None
