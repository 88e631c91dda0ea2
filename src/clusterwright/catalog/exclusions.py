"""Packages of a vendor's repository that belong to somebody else: they are not taken from there."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache

from clusterwright.catalog.table import DATA, rows


@dataclass(frozen=True, slots=True)
class Exclusion:
    """`repository` and `packages` are patterns of names."""

    repository: str
    packages: tuple[str, ...]
    why: str
    source: str
    date: str


@cache
def exclusions() -> tuple[Exclusion, ...]:
    return tuple(
        Exclusion(
            row["repository"],
            tuple(row["packages"].split()),
            *(row[name] for name in ("why", "source", "date")),
        )
        for row in rows("exclusions", DATA / "software")
    )


def excluded(repository: str) -> tuple[str, ...]:
    """Patterns of packages that nobody is to take from there, whatever version it has."""
    found = (row.packages for row in exclusions() if fnmatchcase(repository, row.repository))
    return tuple(sorted({package for packages in found for package in packages}))
