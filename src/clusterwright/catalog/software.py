"""Software of the host: which releases there are, what each needs, and what its packages are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from clusterwright.catalog.table import DATA, Row, rows

_FOLDER = DATA / "software"


@dataclass(frozen=True, slots=True)
class Component:
    """One piece of the stack. Its scope is `cluster` where all pools share one version, else `pool`."""

    name: str
    title: str
    vendor: str
    scope: str
    modules: tuple[str, ...]
    """Kernel modules that are built for it and that nothing works without."""
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Release:
    """One version of a component, as its vendor released it."""

    component: str
    version: str
    channel: str
    """`lts`, `production`, `feature`, or empty. `series`: whatever a distribution's archive has of it."""
    flavours: tuple[str, ...]
    """`open` and `proprietary` for a driver, what a kernel is built for; otherwise none."""
    built_for: tuple[tuple[str, str], ...]
    """Component and its major version, for instance `("cuda", "13")`."""
    distributions: frozenset[str]
    architectures: frozenset[str]
    released: str
    end_of_support: str
    sha256: str | None
    source: str
    date: str

    def fits(self, distribution: str, architecture: str) -> bool:
        """Whether it exists there; where the row names none, it is bound to none."""
        return (not self.distributions or distribution in self.distributions) and (
            not self.architectures or architecture in self.architectures
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """What releases of one component ask of another: to be there (`requires`), or to fit (`constrains`)."""

    component: str
    versions: str
    kind: str
    needs: str
    accepts: str
    """Specifier set, `same`, or empty for any version."""
    why: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class HardwareRule:
    """What a machine with a trait asks of a component. `suits` only says where it can be of use."""

    trait: str
    component: str
    kind: str
    accepts: str
    flavour: str
    why: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Package:
    """One package of a component on some distributions, for a range of its versions."""

    component: str
    versions: str
    distributions: frozenset[str]
    flavours: frozenset[str]
    """Only for these flavours; empty for all."""
    package: str
    package_version: str
    services: tuple[str, ...]
    repository: str
    hold: bool
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Repository:
    """Where packages come from, for some distributions and architectures."""

    name: str
    distributions: frozenset[str]
    architectures: frozenset[str]
    url: str
    suite: str
    components: tuple[str, ...]
    key_url: str
    fingerprint: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Preference:
    """Channels and flavours of a component that are taken when nobody says anything, the best first."""

    component: str
    trait: str
    preferred: tuple[str, ...]
    source: str
    date: str


class SoftwareCatalog:
    """The tables of one folder, each read when it is first asked for."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._folder = folder

    @cached_property
    def components(self) -> Mapping[str, Component]:
        """By name, sorted."""
        found = (
            Component(
                name=row["component"],
                title=row["title"],
                vendor=row["vendor"],
                scope=row["scope"],
                modules=tuple(row["modules"].split()),
                source=row["source"],
                date=row["date"],
            )
            for row in self._rows("components")
        )
        return {one.name: one for one in sorted(found, key=lambda one: one.name)}

    @cached_property
    def _releases(self) -> Mapping[str, tuple[Release, ...]]:
        found: dict[str, list[Release]] = {name: [] for name in self.components}
        for row in self._rows("releases"):
            found[row["component"]].append(_release(row))
        return {
            name: tuple(sorted(rows, key=lambda row: (parsed(row.version), row.built_for)))
            for name, rows in found.items()
        }

    def releases(self, component: str) -> tuple[Release, ...]:
        """Releases of a component, the oldest first."""
        return self._releases.get(component, ())

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        names = ("component", "versions", "kind", "needs", "accepts", "why", "source", "date")
        found = (Rule(*(row[name] for name in names)) for row in self._rows("rules"))
        return tuple(sorted(found, key=lambda rule: (rule.component, rule.needs, rule.versions, rule.kind)))

    @cached_property
    def hardware_rules(self) -> tuple[HardwareRule, ...]:
        names = ("trait", "component", "kind", "accepts", "flavour", "why", "source", "date")
        found = (HardwareRule(*(row[name] for name in names)) for row in self._rows("hardware_rules"))
        return tuple(sorted(found, key=lambda rule: (rule.component, rule.trait, rule.kind, rule.accepts)))

    @cached_property
    def packages(self) -> tuple[Package, ...]:
        found = map(_package, self._rows("packages"))
        return tuple(sorted(found, key=lambda row: (row.component, row.package, row.versions)))

    @cached_property
    def repositories(self) -> tuple[Repository, ...]:
        found = map(_repository, self._rows("repositories"))
        return tuple(sorted(found, key=lambda row: (row.name, sorted(row.distributions), row.url)))

    @cached_property
    def preferences(self) -> tuple[Preference, ...]:
        return tuple(
            Preference(
                row["component"], row["trait"], tuple(row["prefer"].split()), row["source"], row["date"]
            )
            for row in self._rows("defaults")
        )

    def _rows(self, table: str) -> list[Row]:
        return list(rows(table, self._folder))


@cache
def catalog() -> SoftwareCatalog:
    """The tables that come with clusterwright."""
    return SoftwareCatalog()


def components() -> Mapping[str, Component]:
    return catalog().components


def releases(component: str) -> tuple[Release, ...]:
    return catalog().releases(component)


def rules() -> tuple[Rule, ...]:
    return catalog().rules


def hardware_rules() -> tuple[HardwareRule, ...]:
    return catalog().hardware_rules


def packages() -> tuple[Package, ...]:
    return catalog().packages


def repositories() -> tuple[Repository, ...]:
    return catalog().repositories


@cache
def parsed(version: str) -> Version:
    """A version that can be compared."""
    return Version(version)


@cache
def accepts(specifiers: str, version: str) -> bool:
    """Whether a version is in a specifier set; the empty set holds every version."""
    return not specifiers or _specifier_set(specifiers).contains(parsed(version), prereleases=True)


@cache
def _specifier_set(text: str) -> SpecifierSet:
    return SpecifierSet(text)


def _words(cell: str) -> frozenset[str]:
    return frozenset(cell.split())


def _release(row: Row) -> Release:
    pairs = (pair.partition("=") for pair in row["built_for"].split())
    return Release(
        component=row["component"],
        version=row["version"],
        channel=row["channel"],
        flavours=tuple(row["flavours"].split()),
        built_for=tuple((component, major) for component, _, major in pairs),
        distributions=_words(row["distributions"]),
        architectures=_words(row["architectures"]),
        released=row["released"],
        end_of_support=row["end_of_support"],
        sha256=row["sha256"] or None,
        source=row["source"],
        date=row["date"],
    )


def _package(row: Row) -> Package:
    return Package(
        component=row["component"],
        versions=row["versions"],
        distributions=_words(row["distributions"]),
        flavours=_words(row["flavours"]),
        package=row["package"],
        package_version=row["package_version"],
        services=tuple(row["services"].split()),
        repository=row["repository"],
        hold=row["hold"] == "yes",
        source=row["source"],
        date=row["date"],
    )


def _repository(row: Row) -> Repository:
    return Repository(
        name=row["repository"],
        distributions=_words(row["distributions"]),
        architectures=_words(row["architectures"]),
        url=row["url"],
        suite=row["suite"],
        components=tuple(row["components"].split()),
        key_url=row["key_url"],
        fingerprint=row["fingerprint"],
        source=row["source"],
        date=row["date"],
    )
