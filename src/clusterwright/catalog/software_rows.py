"""Rows of the software catalog: what a component, a release, a rule, a package and a repository are."""

from __future__ import annotations

from dataclasses import dataclass

from clusterwright.catalog.table import Row


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


def component_of(row: Row) -> Component:
    return Component(
        name=row["component"],
        title=row["title"],
        vendor=row["vendor"],
        scope=row["scope"],
        modules=tuple(row["modules"].split()),
        source=row["source"],
        date=row["date"],
    )


def release_of(row: Row) -> Release:
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


def rule_of(row: Row) -> Rule:
    names = ("component", "versions", "kind", "needs", "accepts", "why", "source", "date")
    return Rule(*(row[name] for name in names))


def hardware_rule_of(row: Row) -> HardwareRule:
    names = ("trait", "component", "kind", "accepts", "flavour", "why", "source", "date")
    return HardwareRule(*(row[name] for name in names))


def package_of(row: Row) -> Package:
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


def repository_of(row: Row) -> Repository:
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


def preference_of(row: Row) -> Preference:
    return Preference(
        row["component"], row["trait"], tuple(row["prefer"].split()), row["source"], row["date"]
    )


def _words(cell: str) -> frozenset[str]:
    return frozenset(cell.split())
