"""What somebody asks for by name: a version, a range, a channel, a flavour, or only that it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from clusterwright.catalog.software import SoftwareCatalog, accepts
from clusterwright.catalog.software_rows import Release
from clusterwright.finding import Finding, Where

CHANNELS = frozenset(["lts", "production", "feature"])
FLAVOURS = frozenset(["open", "proprietary", "generic", "hwe", "aws", "gcp"])
_SHOWN = 8
"""Versions that a person reads in one sentence."""


@dataclass(frozen=True, slots=True)
class Wish:
    """`driver: "580 open"`, for the cluster or for one pool."""

    component: str
    text: str
    where: Where
    pool: str = ""

    def admits(self, release: Release, flavour: str) -> bool:
        """Whether a release, in one of its flavours, is what was asked for."""
        specifiers, channels, flavours = _terms(self.text)
        return (
            accepts(specifiers, release.version)
            and (not channels or release.channel in channels)
            and (not flavours or flavour in flavours)
        )

    def __str__(self) -> str:
        return self.component if self.text == "any" else f"{self.component} {self.text}"


@cache
def _terms(text: str) -> tuple[str, frozenset[str], frozenset[str]]:
    """Specifier set, channels and flavours. A bare version is a prefix, `580` is any 580.x; one that tells
    its build (`6.8.0-1057`, `2.15.6+fsx`) is that alone."""
    words = text.split()
    others = CHANNELS | FLAVOURS | {"any"}
    clauses = "".join(word for word in words if word not in others).split(",")
    specifiers = ",".join(_specifier(clause) for clause in clauses if clause)
    return specifiers, CHANNELS & set(words), FLAVOURS & set(words)


def _specifier(clause: str) -> str:
    if not clause[0].isdigit():
        return clause
    return f"=={clause}" if {"+", "-"} & set(clause) else f"=={clause}.*"


def mistakes(wishes: Iterable[Wish], catalog: SoftwareCatalog) -> Iterator[Finding]:
    """Wishes that nothing in the catalog answers, whatever the machines are."""
    for wish in wishes:
        if wish.component not in catalog.components:
            yield _unknown_component(wish, catalog)
        elif not _is_valid(wish.text):
            what = f"'{wish.text}' is no version of {wish.component}"
            remedy = "Write a version such as 580 or 580.95.05, a range such as >=580,<590, or `any`"
            yield Finding("CW1362", wish.where, what, remedy)
        elif not any(
            wish.admits(release, flavour)
            for release in catalog.releases(wish.component)
            for flavour in release.flavours or ("",)
        ):
            yield _unknown_version(wish, catalog)


def unknown(component: str, catalog: SoftwareCatalog) -> str:
    """What to do about a name that no component has."""
    near = get_close_matches(component, catalog.components, n=3, cutoff=0.6)
    return f"Nearest: {', '.join(near)}" if near else f"There are: {', '.join(catalog.components)}"


def _unknown_component(wish: Wish, catalog: SoftwareCatalog) -> Finding:
    what = f"no component '{wish.component}' is known"
    return Finding("CW1361", wish.where, what, unknown(wish.component, catalog))


def _is_valid(text: str) -> bool:
    try:
        SpecifierSet(_terms(text)[0])
    except InvalidSpecifier:
        return False
    return True


def _unknown_version(wish: Wish, catalog: SoftwareCatalog) -> Finding:
    known = list(dict.fromkeys(release.version for release in catalog.releases(wish.component)))
    what = f"no known release of {wish.component} is '{wish.text}'"
    wanted = "".join(letter for letter in wish.text if letter.isdigit() or letter == ".")
    near = get_close_matches(wanted, known, n=3, cutoff=0.6)
    if not known:
        return Finding("CW1363", wish.where, what, "None of its releases are in the catalog: remove the wish")
    said = f"Nearest: {', '.join(near)}; known" if near else "Known"
    return Finding("CW1363", wish.where, what, f"{said}: {summary(known)}")


def summary(versions: Iterable[str]) -> str:
    """Versions, the oldest first; of too many, the last of each series."""
    shown = list(dict.fromkeys(versions))
    for numbers in (2, 1):
        if len(shown) > _SHOWN:
            newest = {tuple(version.split(".")[:numbers]): version for version in shown}
            shown = list(newest.values())
    return ", ".join(shown if len(shown) <= _SHOWN else [*shown[:2], "…", *shown[2 - _SHOWN :]])
