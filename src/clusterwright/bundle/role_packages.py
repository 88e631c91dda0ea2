"""What a role installs, for people to read: names by distribution and release, and where they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from clusterwright.catalog.archives import handed_out
from clusterwright.catalog.distributions import distributions
from clusterwright.catalog.repositories import installable
from clusterwright.catalog.software import accepts, packages, parsed, releases, repositories
from clusterwright.catalog.software_rows import Package, Release
from clusterwright.plan.software.lock import DISTRIBUTION

_NONE = "no repository: a mirror"
_ANY = "any repository of the node"

T = TypeVar("T")
Builds = dict[tuple[str, str], Package]
"""Release and flavour → the row that holds for them."""


@dataclass(frozen=True, slots=True)
class Installed:
    """Packages that come together: under the same condition, from the same place."""

    packages: tuple[str, ...]
    distributions: tuple[str, ...]
    releases: tuple[str, ...]
    """Specifiers of the component's release and flavours of it; none where every one has these packages."""
    origin: str
    held: bool


def of_part(part: str) -> Iterator[Installed]:
    """Packages of the distributions themselves; without packages, where no source tells their names."""
    named = {name: tuple(sorted(each.parts[part].packages)) for name, each in distributions().items()}
    for found, places in alike(named):
        yield Installed(found, places, (), "", held=False)


def of_component(component: str) -> list[Installed]:
    """A component of the lock, whichever of its releases the lock has."""
    known: dict[str, set[tuple[str, str]]] = {}
    found: dict[tuple[str, str, bool], dict[str, Builds]] = {}
    for place in distributions():
        for release, flavour, rows in _builds(component, place):
            build = release.version, flavour
            known.setdefault(place, set()).add(build)
            for row in rows:
                key = row.package, _origin(row, rows, place, release.version), row.hold
                found.setdefault(key, {}).setdefault(place, {})[build] = row
    together: dict[tuple[tuple[str, ...], tuple[str, ...], str, bool], list[str]] = {}
    for (package, origin, held), builds in sorted(found.items()):
        which = {place: tuple(_which(mine, known[place])) for place, mine in builds.items()}
        for several, places in alike(which):
            for said in several:
                together.setdefault((places, said, origin, held), []).append(package)
    made = [
        Installed(tuple(names), places, said, origin, held)
        for (places, said, origin, held), names in together.items()
    ]
    return sorted(made, key=lambda row: (row.packages, row.distributions, row.releases))


def services_of(component: str) -> Mapping[str, tuple[str, ...]]:
    """By distribution, the units that a component's packages bring."""
    found: dict[str, set[str]] = {}
    for row in packages():
        if row.component == component:
            for place in row.distributions:
                found.setdefault(place, set()).update(row.services)
    return {place: tuple(sorted(found[place])) for place in sorted(found)}


def alike(by_distribution: Mapping[str, T]) -> list[tuple[T, tuple[str, ...]]]:
    """Distributions that have the same, together."""
    found: dict[T, list[str]] = {}
    for place, what in sorted(by_distribution.items()):
        found.setdefault(what, []).append(place)
    return [(what, tuple(places)) for what, places in found.items()]


def _builds(component: str, place: str) -> Iterator[tuple[Release, str, list[Package]]]:
    """Every release and flavour that a distribution has packages of, with their rows."""
    here = [row for row in packages() if row.component == component and place in row.distributions]
    for release in releases(component):
        if release.distributions and place not in release.distributions:
            continue
        for flavour in release.flavours or ("",):
            rows = [
                row
                for row in here
                if accepts(row.versions, release.version) and (not row.flavours or flavour in row.flavours)
            ]
            if rows:
                yield release, flavour, rows


def _which(mine: Builds, known: set[tuple[str, str]]) -> Iterator[tuple[str, ...]]:
    """Releases and flavours that have a package, in words: nothing where all of them have it."""
    if set(mine) == known:
        yield ()
        return
    for flavours in sorted({row.flavours for row in mine.values()}, key=sorted):
        rows = {build: row for build, row in mine.items() if row.flavours == flavours}
        every = {build for build in known if not flavours or build[1] in flavours}
        ranges = [] if set(rows) == every else _joined({row.versions for row in rows.values()})
        said = (" or ".join(f"`{one}`" for one in several) for several in (ranges, sorted(flavours)))
        yield tuple(text for text in said if text)


def _joined(specifiers: Iterable[str]) -> list[str]:
    """Ranges that meet are one."""
    ranges = [dict(re.findall(r"(>=|==|<)([^,]+)", text)) for text in specifiers]
    ranges.sort(key=lambda one: parsed(one.get(">=") or one.get("==") or "0"))
    joined: list[dict[str, str]] = []
    for one in ranges:
        if joined and ">=" in one and joined[-1].get("<") == one[">="]:
            below = {sign: version for sign, version in one.items() if sign == "<"}
            joined[-1] = {sign: version for sign, version in joined[-1].items() if sign != "<"} | below
        else:
            joined.append(one)
    return [",".join(f"{sign}{version}" for sign, version in one.items()) for one in joined]


def _origin(row: Package, rows: Iterable[Package], place: str, version: str) -> str:
    """Of a row that names no repository: where the component's other packages come from."""
    name = row.repository or next((other.repository for other in rows if other.repository), "")
    if name and not row.repository and not row.hold:
        return _ANY
    if name == DISTRIBUTION:
        return "the distribution"
    label = f"`{name.removesuffix(version)}{{version}}`" if name.endswith(f"-{version}") else f"`{name}`"
    kinds = {_kind(name, place)} if name else set()
    return f"{label}{kinds.pop()}" if kinds else _NONE


def _kind(name: str, place: str) -> str:
    """What an address is: a repository, files that can be verified, or neither."""
    packages = distributions()[place].packages
    pattern = re.sub(r"{\w+}", "*", name)
    kinds = set()
    for row in repositories():
        if fnmatchcase(row.name, pattern) and place in row.distributions:
            if installable(row.url, row.suite, has_key=bool(row.key_url), packages=packages):
                kinds.add("")
            elif all(handed_out(name, row, place, machine, packages) for machine in row.architectures):
                kinds.add(", files that are verified")
            else:
                kinds.add(", no signed repository: a mirror")
    return " or".join(sorted(kinds))
