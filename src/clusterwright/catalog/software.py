"""Software of the host: the tables of what there is, and how versions compare."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from clusterwright.catalog.software_rows import (
    Component,
    HardwareRule,
    Package,
    Preference,
    Release,
    Repository,
    Rule,
    component_of,
    hardware_rule_of,
    package_of,
    preference_of,
    release_of,
    repository_of,
    rule_of,
)
from clusterwright.catalog.table import DATA, Row, rows

_FOLDER = DATA / "software"


class SoftwareCatalog:
    """The tables of one folder, each read when it is first asked for."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._folder = folder

    @cached_property
    def components(self) -> Mapping[str, Component]:
        """By name, sorted."""
        found = map(component_of, self._rows("components"))
        return {one.name: one for one in sorted(found, key=lambda one: one.name)}

    @cached_property
    def _releases(self) -> Mapping[str, tuple[Release, ...]]:
        found: dict[str, list[Release]] = {name: [] for name in self.components}
        for row in self._rows("releases"):
            found[row["component"]].append(release_of(row))
        return {
            name: tuple(sorted(rows, key=lambda row: (parsed(row.version), row.built_for)))
            for name, rows in found.items()
        }

    def releases(self, component: str) -> tuple[Release, ...]:
        """Releases of a component, the oldest first."""
        return self._releases.get(component, ())

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        found = map(rule_of, self._rows("rules"))
        return tuple(sorted(found, key=lambda rule: (rule.component, rule.needs, rule.versions, rule.kind)))

    @cached_property
    def hardware_rules(self) -> tuple[HardwareRule, ...]:
        found = map(hardware_rule_of, self._rows("hardware_rules"))
        return tuple(sorted(found, key=lambda rule: (rule.component, rule.trait, rule.kind, rule.accepts)))

    @cached_property
    def packages(self) -> tuple[Package, ...]:
        found = map(package_of, self._rows("packages"))
        return tuple(sorted(found, key=lambda row: (row.component, row.package, row.versions)))

    @cached_property
    def repositories(self) -> tuple[Repository, ...]:
        found = map(repository_of, self._rows("repositories"))
        return tuple(sorted(found, key=lambda row: (row.name, sorted(row.distributions), row.url)))

    @cached_property
    def preferences(self) -> tuple[Preference, ...]:
        return tuple(map(preference_of, self._rows("defaults")))

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
